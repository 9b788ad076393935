// SPDX-License-Identifier: MIT
// The first timing of a launchable, stopped once it is clearly slow.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// First timing: lets the series choose its mode, captures it where that has graphs, unless it is far slower than what
/// graphs are for, and returns a sample to judge by. `checked_launch_s`: time of a launch made just before, 0 where
/// there was none; a long one spares the warm-up.
[[nodiscard]] CudaResult<Sample> calibrate(LaunchSeries& series, SampleTimer& timer, double checked_launch_s = 0);
/// Calls calibrate() unless `calibrated` is set; then sets it.
[[nodiscard]] CudaResult<> calibrate_once(LaunchSeries& series, bool& calibrated, SampleTimer& timer);

struct Screening {
  bool cut = false;             ///< stopped early as clearly slower than the incumbent
  std::vector<Sample> samples;  ///< of screen(): one or three
  [[nodiscard]] double median_per_launch_s() const;
};

/// calibrate(), then samples of 2, 5 and 5 ms. Stops at once where the checked launch was long and over 3 times
/// `incumbent_s` (0: no incumbent), after calibration where it is over 3 times, after the first sample where it is
/// over 1.5 times the incumbent per launch.
[[nodiscard]] CudaResult<Screening> screen(LaunchSeries& series, SampleTimer& timer, double incumbent_s,
                                           double checked_launch_s);

}  // namespace pgtune::gpu
