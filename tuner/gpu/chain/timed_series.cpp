// SPDX-License-Identifier: MIT
#include "tuner/gpu/chain/timed_series.hpp"

#include <algorithm>
#include <utility>

#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {

CudaResult<TimedSeries> TimedSeries::make(LaunchSeries series, SampleTimer& timer) {
  /// Long beside what starting a graph costs, short beside a sample.
  constexpr double kGraph_s = 4e-3;
  const auto probe = calibrate(series, timer);
  if (!probe) return tl::unexpected(probe.error());
  const double per_launch_s = probe->per_launch_s();
  const std::int64_t launches = std::min(launches_for(kGraph_s, per_launch_s, 1, 1), kUsualGraphLaunches);
  if (auto ok = series.capture(launches); !ok) return tl::unexpected(ok.error());
  return TimedSeries{std::move(series), per_launch_s};
}

}  // namespace pgtune::gpu
