// SPDX-License-Identifier: MIT
#include "pipeline/worker/device_copy.hpp"

namespace pgtune::gpu {
namespace {

/// CUDA 12.8's.
constexpr int kLeastDriver = 12080;

const char* doing(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice ? "copying to the GPU" : "copying from the GPU";
}

/// What either call takes.
struct BatchArguments {
  explicit BatchArguments(const std::vector<DeviceCopy>& copies) {
    for (const DeviceCopy& copy : copies) {
      to.push_back(copy.to);
      from.push_back(const_cast<void*>(copy.from));
      bytes.push_back(copy.bytes());
    }
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
  }
  std::vector<void*> to, from;
  std::vector<std::size_t> bytes;
  BatchAttributes attributes = {};
  std::size_t first_of_attributes = 0;
};

}  // namespace

CudaResult<> enqueue_copy(const DeviceCopy& copy, cudaStream_t stream) {
  if (copy.is_piece())
    return check(cudaMemcpyAsync(copy.to, copy.from, copy.bytes(), copy.kind, stream), doing(copy.kind));
  return check(cudaMemcpy2DAsync(copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.row_bytes, copy.rows,
                                 copy.kind, stream),
               doing(copy.kind));
}

CudaResult<> enqueue_batch(const std::vector<DeviceCopy>& copies, cudaStream_t stream) {
  return check(call_batch(&cudaMemcpyBatchAsync, copies, stream), doing(copies.front().kind));
}

CudaResult<bool> has_batched_copies() {
  int version = 0;
  return check(cudaDriverGetVersion(&version), "asking for the driver's version").map([&] {
    return version >= kLeastDriver;
  });
}

cudaError_t call_batch(BatchCallOfCuda12* call, const std::vector<DeviceCopy>& copies, cudaStream_t stream) {
  BatchArguments arguments(copies);
  std::size_t failed = 0;
  return call(arguments.to.data(), arguments.from.data(), arguments.bytes.data(), copies.size(), &arguments.attributes,
              &arguments.first_of_attributes, 1, &failed, stream);
}

cudaError_t call_batch(BatchCallOfCuda13* call, const std::vector<DeviceCopy>& copies, cudaStream_t stream) {
  BatchArguments arguments(copies);
  return call(arguments.to.data(), arguments.from.data(), arguments.bytes.data(), copies.size(), &arguments.attributes,
              &arguments.first_of_attributes, 1, stream);
}

}  // namespace pgtune::gpu
