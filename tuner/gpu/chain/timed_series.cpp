// SPDX-License-Identifier: MIT
#include "tuner/gpu/chain/timed_series.hpp"

#include <utility>

#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {

CudaResult<TimedSeries> TimedSeries::make(LaunchSeries series, SampleTimer& timer) {
  const auto probe = calibrate(series, timer);
  if (!probe) return tl::unexpected(probe.error());
  const double per_launch_s = probe->per_launch_s();
  if (auto ok = series.capture(per_launch_s); !ok) return tl::unexpected(ok.error());
  return TimedSeries{std::move(series), per_launch_s};
}

}  // namespace pgtune::gpu
