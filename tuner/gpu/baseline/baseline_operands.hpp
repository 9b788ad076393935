// SPDX-License-Identifier: MIT
// The operands in layouts that cuBLASLt accepts, and the kernels of kernels/operand_copies.cu that make them.
#pragma once

#include <cuda_runtime_api.h>

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
#include "tuner/gpu/launch/kernel_table.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

class OperandCopyKernels {
 public:
  /// operand_copies.cu compiled for `architecture`, at a process's first call, because only some baselines copy
  /// operands. Needs no GPU.
  [[nodiscard]] static Result<std::string> compile(const std::string& architecture);
  /// Compiled and loaded. `driver` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<OperandCopyKernels>> load(const Driver& driver,
                                                                        const std::string& architecture);

  /// Enqueues the copies before a product of `batch` matrices, in one launch. Precondition: planned(), and something is
  /// copied.
  [[nodiscard]] CudaResult<> lay_out(const OperandCopies& copies, std::int64_t batch, cudaStream_t stream) const;
  /// Precondition: planned(), and there are rows to copy.
  [[nodiscard]] CudaResult<> copy_rows(const RowCopy& copy, std::int64_t batch, cudaStream_t stream) const;

 private:
  enum Kernel { kLayOutOperands, kCopyRows, kCount };

  explicit OperandCopyKernels(KernelTable<kCount> kernels) : kernels_(std::move(kernels)) {}

  KernelTable<kCount> kernels_;
};

/// On Hopper cuBLASLt multiplies e4m3, e5m2 and int8 matrices only if both are stored along K (layout nt). Its newest
/// kernels need rows at multiples of 16 bytes, as TMA does; for int8 the documentation also requires a K that is a
/// multiple of four. It refuses some extents of e4m3 and e5m2 altogether. If operands are stored differently, the
/// baseline has its own memory for them, with zeros where extents grew, and for D if that grew. Every launch fills this
/// memory from the problem's operands and copies D back, as a user with these operands would have to, and as pgtune's
/// own kernels do. The baseline's time includes these copies.
class BaselineOperands {
 public:
  /// The problem for cuBLASLt: the same product, with a layout, leading dimensions and K that it accepts, and without
  /// an activation that it cannot fuse.
  [[nodiscard]] static Problem solvable(const Problem& problem);
  /// The problem for cuBLASLt if it has no algorithm for that one: for e4m3 and e5m2, M, N and K rounded up to
  /// multiples of 16, as its documentation requires, and packed. The extents that it refuses depend on its version, so
  /// solvable() is tried first. Nothing if there is no larger problem to try, or none that fits 64 bits.
  [[nodiscard]] static std::optional<Problem> enlarged(const Problem& problem);
  /// Bytes of the copies for one operand set, for the one of the two that needs more; 0 if the problem's operands can
  /// be used unchanged.
  [[nodiscard]] static std::int64_t copy_bytes(const Problem& problem);

  /// The operands that a launch copies: "A, B, C, bias, D" or some of these; empty if the problem's are used unchanged.
  /// `solved`, here and below, is solvable() or enlarged() of `problem`.
  [[nodiscard]] static std::string copied(const Problem& problem, const Problem& solved);

  /// The memory for copied operands. It is either the same for all launches, like a variant's workspace, and stays in
  /// L2 if it fits; or separate for each operand set, which then keeps its copies.
  enum class Memory { kOfAllSets, kOfEachSet };
  /// Enqueues zeros for the operands that grew. `buffers` must outlive the result; so must `kernels`, which may be null
  /// if nothing is copied(). cudaErrorMemoryAllocation if the copies do not fit.
  [[nodiscard]] static CudaResult<BaselineOperands> create(const Problem& problem, const Problem& solved,
                                                           const OperandBuffers& buffers,
                                                           const OperandCopyKernels* kernels, Memory memory,
                                                           cudaStream_t stream);

  /// The same as OperandBuffers::copies(), in the solved problem's layout.
  [[nodiscard]] const std::vector<OperandSet>& copies() const { return copies_; }
  /// Enqueues the copying of A, B, C and bias, as far as the baseline has its own, before a product on a copy.
  [[nodiscard]] CudaResult<> lay_out(std::size_t copy, cudaStream_t stream) const;
  /// Enqueues the copying of D's M x N elements to the problem's D, if the baseline has its own, after a product.
  [[nodiscard]] CudaResult<> return_result(std::size_t copy, cudaStream_t stream) const;
  /// Enqueues poison into D of a copy, if it is the baseline's own: elements that a product leaves unwritten then show
  /// in the problem's D.
  [[nodiscard]] CudaResult<> poison(std::size_t copy, cudaStream_t stream) const;

 private:
  /// The copies of a launch on one operand set.
  struct Copies {
    OperandCopies before;
    RowCopy after;
  };

  BaselineOperands(const Problem& problem, const Problem& solved, const OperandBuffers& buffers,
                   const OperandCopyKernels* kernels)
      : problem_(problem), solved_(solved), buffers_(&buffers), kernels_(kernels), copies_(buffers.copies()) {}
  /// Assigns addresses from `next` on to one set's operands, and plans their copies.
  [[nodiscard]] Copies place(OperandSet& set, std::uint64_t next) const;

  Problem problem_, solved_;
  const OperandBuffers* buffers_;
  const OperandCopyKernels* kernels_;
  std::vector<OperandSet> copies_;
  std::vector<Copies> plans_;  ///< of each set
  DeviceBuffer memory_;
};

}  // namespace pgtune::gpu
