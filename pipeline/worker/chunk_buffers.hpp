// SPDX-License-Identifier: MIT
// The device memory of one candidate, and where in it, or in host memory, each chunk's operands lie.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pipeline/plan/schedule.hpp"
#include "pipeline/worker/host_operands.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"

namespace pgtune::gpu {

/// Device memory of the operands that do not stream, by pipeline::Matrix; 0 for those that do.
using ResidentOperands = std::array<std::uint64_t, 3>;

/// Of a product D = A B.
[[nodiscard]] OperandSet product_operands(const DeviceSpan& a, const DeviceSpan& b, const DeviceSpan& d);

class ChunkBuffers {
 public:
  /// Slots of the largest chunk, as many as the candidate has buffers, or one buffer for the whole matrix. `host` and
  /// the memory behind `resident` must outlive the result.
  [[nodiscard]] static CudaResult<ChunkBuffers> allocate(const pipeline::StreamedProblem& streamed,
                                                         const pipeline::Candidate& candidate,
                                                         const std::vector<pipeline::Chunk>& chunks,
                                                         const HostOperands& host, const ResidentOperands& resident);

  /// The operands of each chunk, in order.
  [[nodiscard]] const std::vector<OperandSet>& operands() const { return operands_; }
  /// Where a copy in that slot begins.
  [[nodiscard]] void* slot(pipeline::Matrix matrix, std::int64_t index) const;
  /// All device memory that was allocated.
  [[nodiscard]] std::vector<DeviceSpan> spans() const;

 private:
  struct Buffer {
    DeviceBuffer memory;
    std::int64_t slot_bytes = 0;  ///< from one to the next; 0: one, of the whole matrix
  };

  std::array<Buffer, 3> buffers_;
  std::vector<OperandSet> operands_;
};

}  // namespace pgtune::gpu
