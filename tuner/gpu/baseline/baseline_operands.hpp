// SPDX-License-Identifier: MIT
// The operands as cuBLASLt can take them.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// On Hopper cuBLASLt multiplies e4m3, e5m2 and int8 matrices only where both are stored along K (layout nt), and its
/// newest kernels want rows at multiples of 16 bytes, as TMA does; for int8 a K that is a multiple of four is
/// documented to be needed as well. Of e4m3 and e5m2 it refuses some extents altogether. Where a problem's operands are
/// stored otherwise, the baseline gets copies that are not, with zeros where extents had to grow, and a D of its own
/// where that had to. Copies are made before anything is timed: its time is that of the product alone, as if somebody
/// had stored the operands for it.
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

  /// Enqueues the copying. `solved` is solvable() or enlarged() of `problem`. `buffers` must outlive the result, and
  /// hold the same A, B, C and bias as long. cudaErrorMemoryAllocation where the copies do not fit.
  [[nodiscard]] static CudaResult<BaselineOperands> create(const Problem& problem, const Problem& solved,
                                                           const OperandBuffers& buffers, cudaStream_t stream);

  /// As OperandBuffers::copies(), laid out as the solved problem.
  [[nodiscard]] const std::vector<OperandSet>& copies() const { return copies_; }
  /// Enqueues poison into D of a copy, where it is the baseline's own.
  [[nodiscard]] CudaResult<> poison(std::size_t copy, cudaStream_t stream) const;
  /// Enqueues the copying of D's M x N elements to the problem's D, where that is another.
  [[nodiscard]] CudaResult<> deliver(std::size_t copy, cudaStream_t stream) const;

 private:
  BaselineOperands(const Problem& problem, const Problem& solved, const OperandBuffers& buffers)
      : problem_(problem), solved_(solved), buffers_(&buffers), copies_(buffers.copies()) {}
  /// Enqueues the copying of one set's operands to their places from `next` on.
  [[nodiscard]] CudaResult<> make_copies(OperandSet& set, std::uint64_t next, cudaStream_t stream) const;

  Problem problem_, solved_;
  const OperandBuffers* buffers_;
  std::vector<OperandSet> copies_;
  DeviceBuffer memory_;
};

}  // namespace pgtune::gpu
