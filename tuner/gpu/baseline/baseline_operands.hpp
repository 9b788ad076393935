// SPDX-License-Identifier: MIT
// The operands as cuBLASLt can take them, and the kernels of kernels/operand_copies.cu that bring them there.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/gpu/baseline/kernels/copy_plans.hpp"
#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

class OperandCopyKernels {
 public:
  /// operand_copies.cu compiled for `architecture`, at the first call of a process: only searches whose baseline copies
  /// operands pay for it. Needs no GPU.
  [[nodiscard]] static Result<std::string> compile(const std::string& architecture);
  /// Compiled and loaded. `driver` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<OperandCopyKernels>> load(const Driver& driver,
                                                                        const std::string& architecture);

  /// Enqueues what is to be copied before a product of `batch` matrices, in one launch. Precondition: planned(), and
  /// something is copied.
  [[nodiscard]] CudaResult<> lay_out(const OperandCopies& copies, std::int64_t batch, cudaStream_t stream) const;
  /// Precondition: planned(), and there are rows to copy.
  [[nodiscard]] CudaResult<> copy_rows(const RowCopy& copy, std::int64_t batch, cudaStream_t stream) const;

 private:
  enum Kernel { kLayOutOperands, kCopyRows, kCount };

  OperandCopyKernels(const Driver& driver, Module module) : driver_(&driver), module_(std::move(module)) {}
  template <typename... Arguments>
  [[nodiscard]] CudaResult<> launch(Kernel kernel, std::int64_t ctas, cudaStream_t stream,
                                    Arguments... arguments) const;

  const Driver* driver_;
  Module module_;
  std::array<CUfunction, kCount> functions_{};
};

/// On Hopper cuBLASLt multiplies e4m3, e5m2 and int8 matrices only where both are stored along K (layout nt), and its
/// newest kernels want rows at multiples of 16 bytes, as TMA does; for int8 a K that is a multiple of four is
/// documented to be needed as well. Of e4m3 and e5m2 it refuses some extents altogether. Where a problem's operands are
/// stored otherwise, the baseline has memory of its own for those that are not, with zeros where extents had to grow,
/// and for a D where that had to. Every launch fills it from the problem's operands and brings D back, as a user with
/// these operands would have to, and as pgtune's own kernels do: that is in the baseline's time.
class BaselineOperands {
 public:
  /// The problem cuBLASLt is given: the same product, with the layout, leading dimensions and K it can take, and
  /// without an activation that it cannot fuse.
  [[nodiscard]] static Problem solvable(const Problem& problem);
  /// What cuBLASLt is given instead where it has no algorithm for that: of e4m3 and e5m2, M, N and K rounded up to
  /// multiples of 16, as documented to be needed, and packed. Which extents it refuses depends on its version, so it is
  /// asked first. Nothing where there is no larger problem to try, or none that fits 64 bits.
  [[nodiscard]] static std::optional<Problem> enlarged(const Problem& problem);
  /// Bytes of the copies that go with one operand set, for whichever of the two needs more; 0 where the problem's
  /// operands can be used as they are.
  [[nodiscard]] static std::int64_t copy_bytes(const Problem& problem);

  /// Which operands a launch copies: "A, B, C, bias, D" or some of these; empty where the problem's are used as they
  /// are. `solved`, here and below, is solvable() or enlarged() of `problem`.
  [[nodiscard]] static std::string copied(const Problem& problem, const Problem& solved);

  /// Whose the memory is that operands are copied to: launch after launch the same, as a variant's workspace, which
  /// stays in L2 if it fits; or another for each operand set, which then keeps what was laid out for it.
  enum class Memory { kOfAllSets, kOfEachSet };
  /// Enqueues the zeros of what has grown. `buffers` must outlive the result; `kernels` too, and may be null where
  /// nothing is copied(). cudaErrorMemoryAllocation where the copies do not fit.
  [[nodiscard]] static CudaResult<BaselineOperands> create(const Problem& problem, const Problem& solved,
                                                           const OperandBuffers& buffers,
                                                           const OperandCopyKernels* kernels, Memory memory,
                                                           cudaStream_t stream);

  /// As OperandBuffers::copies(), laid out as the solved problem.
  [[nodiscard]] const std::vector<OperandSet>& copies() const { return copies_; }
  /// Enqueues what comes before a product on a copy: A, B, C and bias are copied, where the baseline has its own.
  [[nodiscard]] CudaResult<> lay_out(std::size_t copy, cudaStream_t stream) const;
  /// Enqueues what comes after it: D's M x N elements are copied to the problem's D, where the baseline has its own.
  [[nodiscard]] CudaResult<> return_result(std::size_t copy, cudaStream_t stream) const;
  /// Enqueues poison into D of a copy, where it is the baseline's own: what a product leaves unwritten is then found in
  /// the problem's D.
  [[nodiscard]] CudaResult<> poison(std::size_t copy, cudaStream_t stream) const;

 private:
  /// What a launch on one operand set copies.
  struct Copies {
    OperandCopies before;
    RowCopy after;
  };

  BaselineOperands(const Problem& problem, const Problem& solved, const OperandBuffers& buffers,
                   const OperandCopyKernels* kernels)
      : problem_(problem), solved_(solved), buffers_(&buffers), kernels_(kernels), copies_(buffers.copies()) {}
  /// Gives one set's operands their places from `next` on, and plans their copies.
  [[nodiscard]] Copies place(OperandSet& set, std::uint64_t next) const;

  Problem problem_, solved_;
  const OperandBuffers* buffers_;
  const OperandCopyKernels* kernels_;
  std::vector<OperandSet> copies_;
  std::vector<Copies> plans_;  ///< of each set
  DeviceBuffer memory_;
};

}  // namespace pgtune::gpu
