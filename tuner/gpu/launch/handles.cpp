// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/handles.hpp"

namespace pgtune::gpu {

CudaResult<Stream> create_stream() {
  cudaStream_t stream = nullptr;
  return check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream").map([&] {
    return Stream(stream);
  });
}

CudaResult<Event> create_event() {
  cudaEvent_t event = nullptr;
  return check(cudaEventCreate(&event), "creating an event").map([&] { return Event(event); });
}

CudaResult<double> seconds_between(cudaEvent_t start, cudaEvent_t stop) {
  float elapsed_ms = 0;
  return check(cudaEventElapsedTime(&elapsed_ms, start, stop), "reading events").map([&] {
    return static_cast<double>(elapsed_ms) * 1e-3;
  });
}

CudaResult<DeviceBuffer> DeviceBuffer::allocate(std::int64_t bytes) {
  DeviceBuffer buffer;
  if (bytes == 0) return buffer;
  void* memory = nullptr;
  if (auto ok = check(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), "allocating device memory"); !ok) {
    return tl::unexpected(ok.error());
  }
  buffer.memory_.reset(memory);
  buffer.bytes_ = bytes;
  return buffer;
}

}  // namespace pgtune::gpu
