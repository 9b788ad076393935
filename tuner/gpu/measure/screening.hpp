// SPDX-License-Identifier: MIT
// How the samples of a round are timed, and the first timing of a launchable, stopped as soon as it is clearly slow.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// How the samples of a round are timed, equal for all contenders so that each heats the GPU alike.
struct RoundTiming {
  double pause_s = 0;    ///< idle time before each sample
  double lead_in_s = 0;  ///< untimed launches before the timed ones, at least one piece of a series
  double sample_s = 0;
};

/// Sustained: samples of `asked_s` back to back, each after a lead-in of a fifth of it, so that the predecessor's power
/// state fades. Burst: each sample starts from a rested GPU, so it is preceded by a pause and one launch, which wakes
/// the GPU and fetches the code, and lasts 10 ms at most, too short for heat and power control to catch up. In both
/// regimes a sample lasts least_sample_s() of the slowest contender, `slowest_s` per launch.
[[nodiscard]] RoundTiming round_timing(Regime regime, double asked_s, double slowest_s);

/// One sample of a round: settled after a lead-in of `settle_s` at least, or with 0 as `timing` says. `per_launch_s`:
/// about what a launch takes.
[[nodiscard]] CudaResult<Sample> time_in_round(LaunchSeries& series, SampleTimer& timer, double per_launch_s,
                                               const RoundTiming& timing, double settle_s);

/// First timing: lets the series choose its mode, captures it where that has graphs, unless it is far slower than what
/// graphs are for, and returns a sample to judge by. `checked_launch_s`: time of a launch made just before, 0 where
/// there was none; a long one spares the warm-up.
[[nodiscard]] CudaResult<Sample> calibrate(LaunchSeries& series, SampleTimer& timer, double checked_launch_s = 0);
/// calibrate() unless `calibrated` says that this has been done; then it says so.
[[nodiscard]] CudaResult<> calibrate_once(LaunchSeries& series, bool& calibrated, SampleTimer& timer);

struct Screening {
  bool cut = false;  ///< stopped early as clearly slower than the incumbent
  std::vector<Sample> samples;
  [[nodiscard]] double median_per_launch_s() const;
};

/// calibrate(), then samples of 2, 5 and 5 ms. Stops at once where the checked launch was long and over 3 times
/// `incumbent_s` (0: no incumbent), after calibration where it is over 3 times, after the first sample where it is
/// over 1.5 times the incumbent per launch.
[[nodiscard]] CudaResult<Screening> screen(LaunchSeries& series, SampleTimer& timer, double incumbent_s,
                                           double checked_launch_s);

}  // namespace pgtune::gpu
