// SPDX-License-Identifier: MIT
// Copies between host memory and the GPU, one by one or several in one call.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

/// Rows; a pitch is bytes from one to the next.
struct DeviceCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t to_pitch = 0, from_pitch = 0, row_bytes = 0, rows = 0;
  cudaMemcpyKind kind = cudaMemcpyHostToDevice;

  /// Of memory without gaps.
  [[nodiscard]] bool is_piece() const { return row_bytes == to_pitch && row_bytes == from_pitch; }
  [[nodiscard]] std::size_t bytes() const { return row_bytes * rows; }
};

[[nodiscard]] CudaResult<> enqueue_copy(const DeviceCopy& copy, cudaStream_t stream);

/// In one call, in no particular order. Preconditions: at least one copy, all of them pieces; a stream that is neither
/// the legacy default stream nor being captured, neither of which cudaMemcpyBatchAsync takes.
[[nodiscard]] CudaResult<> enqueue_batch(const std::vector<DeviceCopy>& copies, cudaStream_t stream);

/// Whether the driver has cudaMemcpyBatchAsync.
[[nodiscard]] CudaResult<bool> has_batched_copies();

// CUDA 12 and CUDA 13 declare that call differently. Which of these is called, its address decides.

using BatchAttributes = cudaMemcpyAttributes;
using BatchCallOfCuda12 = cudaError_t(void** to, void** from, std::size_t* bytes, std::size_t count,
                                      BatchAttributes* attributes, std::size_t* first_of_attributes,
                                      std::size_t attribute_count, std::size_t* failed, cudaStream_t stream);
using BatchCallOfCuda13 = cudaError_t(void* const* to, const void* const* from, const std::size_t* bytes,
                                      std::size_t count, BatchAttributes* attributes, std::size_t* first_of_attributes,
                                      std::size_t attribute_count, cudaStream_t stream);
[[nodiscard]] cudaError_t call_batch(BatchCallOfCuda12* call, const std::vector<DeviceCopy>& copies,
                                     cudaStream_t stream);
[[nodiscard]] cudaError_t call_batch(BatchCallOfCuda13* call, const std::vector<DeviceCopy>& copies,
                                     cudaStream_t stream);

}  // namespace pgtune::gpu
