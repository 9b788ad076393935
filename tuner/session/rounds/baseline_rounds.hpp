// SPDX-License-Identifier: MIT
// Rounds of the baseline alone, before the search: whether the problem meets the power cap, and the session's own
// noise, which is the baseline against itself, measured like any two contenders.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/model/sampling.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

/// Whether the clocks were held down by the power cap in a sample: for a twentieth of its time or more by the driver's
/// counter; where there is none, by a clock more than 3 % under `allowed_hz`, the locked or the highest one (0: not
/// known). Pure.
[[nodiscard]] bool met_power_cap(const Sample& sample, double allowed_hz);

/// The same of samples that may be short: the counter steps every tenth of a second, so that only its sum over many of
/// them says something. Without a counter, whether most of them ran at such a clock.
[[nodiscard]] bool at_power_cap(const std::vector<Sample>& samples, double allowed_hz);

/// The clock that conditions and device allow, 0 where it is not known.
[[nodiscard]] double allowed_clock_hz(const SessionContext& context);

struct SteadyRun {
  Sampling sampling = Sampling::kShort;
  RoundRunner::End end = RoundRunner::End::kRan;
  double time_s = 0;  ///< wall time
};

/// One settled sample of the baseline's best algorithm, which is saved; of a time budget that is too short for it a
/// sample of less than a sixth of the budget, without a lead-in. Short where there is no baseline, and in the burst
/// regime, which rests between samples. Errors: those of the device.
[[nodiscard]] Result<SteadyRun> measure_steady_run(RoundContext& rounds, const BaselineReport& baseline);

struct FloorResult {
  NoiseFloor floor;   ///< rounds 0 where it could not be measured; `note` says why
  double time_s = 0;  ///< device time of its samples
  std::vector<Sample> baseline_samples = {};
  std::optional<std::string> note = {};
  bool interrupted = false;  ///< by the stop flag
};

/// Half width of the 95 % interval of the mean of the paired ln ratios, as a ratio, and the margin that follows from
/// it: the larger of 0.3 % and twice the half width. Pure. `samples`: of the baseline, in any order; a round with just
/// two is a pair. Which of them is the numerator follows from what is stored of them: the earlier one in rounds 1, 3, 5
/// ..., the later one in the others. Too few pairs for an interval: rounds 0 and 0.3 %.
[[nodiscard]] NoiseFloor noise_floor(const std::vector<Sample>& samples);

/// Warms the GPU up with the baseline's best algorithm (at most a second), then gives that algorithm
/// two samples in each of options.floor_rounds rounds, in order AB BA AB ..., and saves them. A time budget shortens
/// this to a tenth of it; where that is less than six rounds, or there is no baseline, nothing is measured.
/// Precondition: prepare() was called, nothing in flight, the store's session was begun. Errors: those of the device.
[[nodiscard]] Result<FloorResult> measure_floor(RoundContext& rounds, const BaselineReport& baseline);

}  // namespace pgtune::session
