// SPDX-License-Identifier: MIT
// Launches that are about to be timed: as graphs, whoever they are, so that a chain and its steps are launched alike.
#pragma once

#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"

namespace pgtune::gpu {

struct TimedSeries {
  LaunchSeries series;
  double per_launch_s = 0;  ///< about what a launch takes

  /// Launches it some times, and captures it.
  [[nodiscard]] static CudaResult<TimedSeries> make(LaunchSeries series, SampleTimer& timer);
};

}  // namespace pgtune::gpu
