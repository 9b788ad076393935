// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/handles.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

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
  TRY(check(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), "allocating device memory"));
  buffer.memory_.reset(memory);
  buffer.bytes_ = bytes;
  return buffer;
}

CudaResult<bool> has_happened(cudaEvent_t event, std::string_view call) {
  const cudaError_t state = cudaEventQuery(event);
  if (state != cudaErrorNotReady) return check(state, call).map([] { return true; });
  static_cast<void>(cudaGetLastError());  // "not ready" is no error
  return false;
}

CudaResult<> wait_for(cudaEvent_t event, double limit_s, std::string_view call) {
  using Clock = std::chrono::steady_clock;
  if (limit_s <= 0) return check(cudaEventSynchronize(event), call);
  // Polls often while an ordinary launch may end, and rarely after that.
  constexpr std::chrono::milliseconds kOrdinary{20}, kSeldom{2};
  const auto start = Clock::now();
  const auto until = start + std::chrono::duration<double>(limit_s);
  for (;;) {
    TRY_ASSIGN(const auto happened, has_happened(event, call));
    if (happened) return {};
    const auto now = Clock::now();
    if (now >= until) break;
    if (now - start > kOrdinary) std::this_thread::sleep_for(kSeldom);
  }
  return tl::unexpected(CudaFailure{cudaErrorLaunchTimeout, cudaGetErrorName(cudaErrorLaunchTimeout),
                                    fmt::format("has not ended after {:.3g} s", limit_s), std::string(call), true});
}

}  // namespace pgtune::gpu
