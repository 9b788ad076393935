// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/event_wait.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace pgtune::gpu {

CudaResult<bool> has_happened(cudaEvent_t event, std::string_view call) {
  const cudaError_t state = cudaEventQuery(event);
  if (state != cudaErrorNotReady) return check(state, call).map([] { return true; });
  static_cast<void>(cudaGetLastError());  // "not ready" is no error
  return false;
}

CudaResult<> wait_for(cudaEvent_t event, double limit_s, std::string_view call) {
  using Clock = std::chrono::steady_clock;
  if (limit_s <= 0) return check(cudaEventSynchronize(event), call);
  // Asked often while an ordinary launch may end, seldom once it looks like one that does not.
  constexpr std::chrono::milliseconds kOrdinary{20}, kSeldom{2};
  const auto start = Clock::now();
  const auto until = start + std::chrono::duration<double>(limit_s);
  for (;;) {
    const auto happened = has_happened(event, call);
    if (!happened) return tl::unexpected(happened.error());
    if (*happened) return {};
    const auto now = Clock::now();
    if (now >= until) break;
    if (now - start > kOrdinary) std::this_thread::sleep_for(kSeldom);
  }
  return tl::unexpected(CudaFailure{cudaErrorLaunchTimeout, cudaGetErrorName(cudaErrorLaunchTimeout),
                                    fmt::format("has not ended after {:.3g} s", limit_s), std::string(call), true});
}

}  // namespace pgtune::gpu
