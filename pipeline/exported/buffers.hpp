// SPDX-License-Identifier: MIT
// The device memory of a plan, and where in it, or in host memory, each chunk's operands lie.
#pragma once

#include "pipeline/exported/copies.hpp"
#include "pipeline/exported/handles.hpp"
#include "pipeline/exported/schedule.hpp"

namespace pgtune_pipeline {
namespace detail {

inline std::size_t index(Matrix matrix) { return static_cast<std::size_t>(matrix); }
/// Of the matrix' part of the largest chunk.
inline std::size_t largest_bytes(const Plan& plan, Matrix matrix) {
  const Region largest = region(plan, matrix, 0, std::min(plan.chunk, extent(plan)));
  return static_cast<std::size_t>(largest.rows * largest.columns * element_bytes(plan, matrix));
}
/// From one slot to the next.
inline std::size_t slot_bytes(const Plan& plan, Matrix matrix) {
  constexpr std::size_t kAlignment = 256;
  return (largest_bytes(plan, matrix) + kAlignment - 1) / kAlignment * kAlignment;
}
/// Of the largest chunk, or one of the whole matrix.
inline std::size_t slots_of(const Plan& plan, Matrix matrix) {
  return has_buffers(plan, matrix) ? static_cast<std::size_t>(plan.buffers) : 1;
}

class Buffers {
 public:
  explicit Buffers(const Plan& plan) : plan_(plan) {}

  cudaError_t allocate(Matrix matrix) {
    return cudaMalloc(memory_[index(matrix)].out(), slot_bytes(plan_, matrix) * slots_of(plan_, matrix));
  }

  Chunk chunk_of(const Operands& operands, int number, int lanes) const {
    Chunk chunk;
    chunk.index = number;
    chunk.first = number * plan_.chunk;
    const std::int64_t count = std::min(plan_.chunk, extent(plan_) - chunk.first);
    chunk.m = plan_.cut == Cut::m ? count : plan_.m;
    chunk.n = plan_.cut == Cut::n ? count : plan_.n;
    chunk.k = plan_.cut == Cut::k ? count : plan_.k;
    chunk.a = part(operands, Matrix::a, number, chunk.first, count, chunk.lda);
    chunk.b = part(operands, Matrix::b, number, chunk.first, count, chunk.ldb);
    chunk.d = part(operands, Matrix::d, number, chunk.first, count, chunk.ldd);
    chunk.accumulate = plan_.cut == Cut::k && number > 0;
    chunk.lane = number % lanes;
    return chunk;
  }

  DeviceCopy copy_of(const Operands& operands, const Step& step) const {
    const Matrix matrix = step.matrix;
    const auto element = static_cast<std::size_t>(element_bytes(plan_, matrix));
    const std::size_t pitch = static_cast<std::size_t>(columns(plan_, matrix)) * element;
    const std::size_t width = static_cast<std::size_t>(step.region.columns) * element;
    const auto rows = static_cast<std::size_t>(step.region.rows);
    char* const host = const_cast<char*>(operand(operands, matrix)) +
                       static_cast<std::size_t>(step.region.row) * pitch +
                       static_cast<std::size_t>(step.region.column) * element;
    char* const device = slot(matrix, step.slot);
    if (step.kind == Kind::copy_in) return {device, host, width, pitch, width, rows, cudaMemcpyHostToDevice};
    return {host, device, pitch, width, width, rows, cudaMemcpyDeviceToHost};
  }

 private:
  static const char* operand(const Operands& operands, Matrix matrix) {
    return static_cast<const char*>(matrix == Matrix::a   ? operands.a
                                    : matrix == Matrix::b ? operands.b
                                                          : static_cast<const void*>(operands.d));
  }
  char* slot(Matrix matrix, int number) const {
    return static_cast<char*>(memory_[index(matrix)].get()) +
           static_cast<std::size_t>(number) * slot_bytes(plan_, matrix);
  }

  /// A matrix' part of a chunk, where the kernel finds it, and the elements between its rows.
  char* part(const Operands& operands, Matrix matrix, int chunk, std::int64_t first, std::int64_t count,
             std::int64_t& pitch) const {
    const Region here = region(plan_, matrix, first, count);
    if (has_buffers(plan_, matrix)) {
      pitch = here.columns;
      return slot(matrix, chunk % plan_.buffers);
    }
    pitch = columns(plan_, matrix);
    const bool copied = streams(plan_, matrix) && plan_.memory != Memory::mapped;
    char* const base = copied ? slot(matrix, 0) : const_cast<char*>(operand(operands, matrix));
    return base + (here.row * pitch + here.column) * element_bytes(plan_, matrix);
  }

  const Plan& plan_;
  DeviceBytes memory_[3];
};

}  // namespace detail
}  // namespace pgtune_pipeline
