// SPDX-License-Identifier: MIT
#include "pipeline/worker/launch_time.hpp"

#include <algorithm>

#include "tuner/gpu/launch/handles.hpp"

namespace pgtune::gpu {
namespace {

constexpr int kTimes = 3;

}  // namespace

CudaResult<double> least_launch_time(const std::function<CudaResult<>()>& launch, cudaStream_t stream) {
  const auto start = create_event(), stop = create_event();
  if (!start) return tl::unexpected(start.error());
  if (!stop) return tl::unexpected(stop.error());
  double least_s = 0;
  for (int time = 0; time <= kTimes; ++time) {
    const auto took = check(cudaEventRecord(start->get(), stream), "timing a kernel")
                          .and_then(launch)
                          .and_then([&] { return check(cudaEventRecord(stop->get(), stream), "timing a kernel"); })
                          .and_then([&] { return check(cudaEventSynchronize(stop->get()), "running a kernel"); })
                          .and_then([&] { return seconds_between(start->get(), stop->get()); });
    if (!took) return tl::unexpected(took.error());
    if (time > 0) least_s = time == 1 ? *took : std::min(least_s, *took);
  }
  return least_s;
}

}  // namespace pgtune::gpu
