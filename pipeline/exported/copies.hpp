// SPDX-License-Identifier: MIT
// Copies between host memory and the GPU, one by one or several in one call.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "pipeline/exported/types.hpp"

namespace pgtune_pipeline {
namespace detail {

/// Rows; a pitch is bytes from one to the next.
struct DeviceCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t to_pitch = 0, from_pitch = 0, row_bytes = 0, rows = 0;
  cudaMemcpyKind kind = cudaMemcpyHostToDevice;
};

inline cudaError_t enqueue_copy(const DeviceCopy& copy, cudaStream_t stream) {
  if (copy.row_bytes == copy.to_pitch && copy.row_bytes == copy.from_pitch)
    return cudaMemcpyAsync(copy.to, copy.from, copy.row_bytes * copy.rows, copy.kind, stream);
  return cudaMemcpy2DAsync(copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.row_bytes, copy.rows, copy.kind,
                           stream);
}

#if CUDART_VERSION >= 12080
// CUDA 12 and CUDA 13 declare the call differently. Which of these is called, its address decides.
using Attributes = cudaMemcpyAttributes;

/// What either takes.
struct Batch {
  explicit Batch(const std::vector<DeviceCopy>& copies) {
    for (const DeviceCopy& copy : copies) {
      to.push_back(copy.to);
      from.push_back(const_cast<void*>(copy.from));
      bytes.push_back(copy.row_bytes * copy.rows);
    }
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
  }
  std::vector<void*> to, from;
  std::vector<std::size_t> bytes;
  Attributes attributes = {};
  std::size_t first = 0;
};

inline cudaError_t call_batch(cudaError_t (*call)(void**, void**, std::size_t*, std::size_t, Attributes*, std::size_t*,
                                                  std::size_t, std::size_t*, cudaStream_t),
                              Batch& batch, cudaStream_t stream) {
  std::size_t failed = 0;
  return call(batch.to.data(), batch.from.data(), batch.bytes.data(), batch.to.size(), &batch.attributes, &batch.first,
              1, &failed, stream);
}
inline cudaError_t call_batch(cudaError_t (*call)(void* const*, const void* const*, const std::size_t*, std::size_t,
                                                  Attributes*, std::size_t*, std::size_t, cudaStream_t),
                              Batch& batch, cudaStream_t stream) {
  return call(batch.to.data(), batch.from.data(), batch.bytes.data(), batch.to.size(), &batch.attributes, &batch.first,
              1, stream);
}

/// Of memory without gaps; in a stream that is neither the legacy default stream nor being captured.
inline cudaError_t enqueue_batch(const std::vector<DeviceCopy>& copies, cudaStream_t stream) {
  Batch batch(copies);
  return call_batch(&cudaMemcpyBatchAsync, batch, stream);
}
#else
inline cudaError_t enqueue_batch(const std::vector<DeviceCopy>& copies, cudaStream_t stream) {
  cudaError_t code = cudaSuccess;
  for (const DeviceCopy& copy : copies) {
    if (code == cudaSuccess) code = enqueue_copy(copy, stream);
  }
  return code;
}
#endif

}  // namespace detail
}  // namespace pgtune_pipeline
