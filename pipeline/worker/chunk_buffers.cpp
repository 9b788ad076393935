// SPDX-License-Identifier: MIT
#include "pipeline/worker/chunk_buffers.hpp"

#include <utility>

#include "pipeline/plan/legality.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"

namespace pgtune::gpu {
namespace {

using pipeline::HostMemory;
using pipeline::index_of;
using pipeline::Matrix;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

}  // namespace

OperandSet product_operands(const DeviceSpan& a, const DeviceSpan& b, const DeviceSpan& d) {
  OperandSet operands;
  operands.buffers.resize(buffer_of_operand(Operand::kD).value() + 1);
  operands[Operand::kA] = a;
  operands[Operand::kB] = b;
  // What a pipeline's products have not is D's buffer.
  operands[Operand::kC] = operands[Operand::kBias] = operands[Operand::kD] = d;
  return operands;
}

CudaResult<ChunkBuffers> ChunkBuffers::allocate(const pipeline::StreamedProblem& streamed,
                                                const pipeline::Candidate& candidate,
                                                const std::vector<pipeline::Chunk>& chunks, const HostOperands& host,
                                                const ResidentOperands& resident) {
  ChunkBuffers made;
  for (const Matrix matrix : pipeline::kMatrices) {
    if (!streamed.streams(matrix) || candidate.memory == HostMemory::kMapped) continue;
    Buffer& buffer = made.buffers_[index_of(matrix)];
    std::int64_t bytes = streamed.bytes(matrix);
    if (has_buffers(streamed, matrix, candidate)) {
      buffer.slot_bytes =
          aligned(bytes_of(streamed, matrix, region_of(streamed, matrix, candidate.cut, chunks.front())));
      bytes = buffer.slot_bytes * candidate.buffers;
    }
    auto memory = DeviceBuffer::allocate(bytes);
    if (!memory) return tl::unexpected(memory.error());
    buffer.memory = std::move(*memory);
  }

  const auto span_of = [&](Matrix matrix, std::size_t chunk) -> DeviceSpan {
    const pipeline::Region region = region_of(streamed, matrix, candidate.cut, chunks[chunk]);
    const Buffer& buffer = made.buffers_[index_of(matrix)];
    if (buffer.slot_bytes > 0) {
      const auto slot = static_cast<std::int64_t>(chunk) % candidate.buffers;
      return {buffer.memory.address() + static_cast<std::uint64_t>(slot * buffer.slot_bytes),
              bytes_of(streamed, matrix, region)};
    }
    // Part of the whole, whose rows lie as far apart as ever.
    const std::int64_t element = streamed.element_bytes(matrix), ld = streamed.columns(matrix);
    const std::uint64_t base = !streamed.streams(matrix)                 ? resident[index_of(matrix)]
                               : candidate.memory == HostMemory::kMapped ? host[matrix].device_address()
                                                                         : buffer.memory.address();
    return {base + static_cast<std::uint64_t>((region.row * ld + region.column) * element),
            ((region.rows - 1) * ld + region.columns) * element};
  };
  made.operands_.resize(chunks.size());
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    made.operands_[chunk] =
        product_operands(span_of(Matrix::kA, chunk), span_of(Matrix::kB, chunk), span_of(Matrix::kD, chunk));
  }
  return made;
}

void* ChunkBuffers::slot(Matrix matrix, std::int64_t index) const {
  const Buffer& buffer = buffers_[index_of(matrix)];
  return device_pointer(buffer.memory.address() + static_cast<std::uint64_t>(index * buffer.slot_bytes));
}

std::vector<DeviceSpan> ChunkBuffers::spans() const {
  std::vector<DeviceSpan> spans;
  for (const Buffer& buffer : buffers_) {
    if (buffer.memory.bytes() > 0) spans.push_back({buffer.memory.address(), buffer.memory.bytes()});
  }
  return spans;
}

}  // namespace pgtune::gpu
