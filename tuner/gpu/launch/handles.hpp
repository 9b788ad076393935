// SPDX-License-Identifier: MIT
// Owners of CUDA runtime objects: move-only, released on destruction. Release errors are ignored: they can only repeat
// an earlier sticky error, which was reported already.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "tuner/gpu/launch/cuda_failure.hpp"

namespace pgtune::gpu {

template <auto release>
struct HandleDeleter {
  template <typename Raw>
  void operator()(Raw handle) const noexcept {
    static_cast<void>(release(handle));
  }
};

template <typename Raw, auto release>
using Handle = std::unique_ptr<std::remove_pointer_t<Raw>, HandleDeleter<release>>;

using Stream = Handle<cudaStream_t, &cudaStreamDestroy>;
using Event = Handle<cudaEvent_t, &cudaEventDestroy>;
using GraphExec = Handle<cudaGraphExec_t, &cudaGraphExecDestroy>;
using Graph = Handle<cudaGraph_t, &cudaGraphDestroy>;

/// A stream that does not wait for the default stream.
[[nodiscard]] CudaResult<Stream> create_stream();
[[nodiscard]] CudaResult<Event> create_event();
/// The time between two completed events.
[[nodiscard]] CudaResult<double> seconds_between(cudaEvent_t start, cudaEvent_t stop);

/// Device memory. Address 0 and size 0 when default-constructed or allocated with 0 bytes.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// cudaErrorMemoryAllocation if the memory does not suffice; that is not sticky.
  [[nodiscard]] static CudaResult<DeviceBuffer> allocate(std::int64_t bytes);

  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_.get()); }
  [[nodiscard]] void* data() const { return memory_.get(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { static_cast<void>(cudaFree(memory)); }
  };
  std::unique_ptr<void, Free> memory_;
  std::int64_t bytes_ = 0;
};

/// Whether `event` has completed. Fails if the GPU has failed.
[[nodiscard]] CudaResult<bool> has_happened(cudaEvent_t event, std::string_view call);

/// Waits until `event` has completed, for `limit_s` at most (0: no limit). Past the limit: a failure of `call` with the
/// sticky code cudaErrorLaunchTimeout; the work still runs, and only the end of this process stops it.
[[nodiscard]] CudaResult<> wait_for(cudaEvent_t event, double limit_s, std::string_view call);

}  // namespace pgtune::gpu
