// SPDX-License-Identifier: MIT
// The operands as cuBLASLt can take them.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/measure/operand_buffers.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// On Hopper cuBLASLt multiplies e4m3, e5m2 and int8 matrices only where both are stored along K (layout nt), and its
/// newest kernels want rows at multiples of 16 bytes, as TMA does; for int8 a K that is a multiple of four is
/// documented to be needed as well. Where a problem's operands are stored otherwise, the reference gets copies that are
/// not, with zeros where K had to grow. They are made before anything is timed: its time is that of the product alone,
/// as if somebody had stored the operands for it.
class ReferenceOperands {
 public:
  /// The problem cuBLASLt is given: the same product, with the layout, leading dimensions and K it can take, and
  /// without an activation that it cannot fuse.
  [[nodiscard]] static Problem solvable(const Problem& problem);
  /// Bytes of the copies that go with one operand set; 0 where it can be used as it is.
  [[nodiscard]] static std::int64_t copy_bytes(const Problem& problem);

  /// Enqueues the copying. `buffers` must outlive the result, and hold the same A and B as long.
  [[nodiscard]] static CudaResult<ReferenceOperands> create(const Problem& problem, const OperandBuffers& buffers,
                                                            cudaStream_t stream);

  /// As OperandBuffers::copies(); C and D are always the problem's own.
  [[nodiscard]] const std::vector<OperandSet>& copies() const { return copies_; }

 private:
  std::vector<OperandSet> copies_;
  DeviceBuffer memory_;
};

}  // namespace pgtune::gpu
