// SPDX-License-Identifier: MIT
// The session's own noise: the baseline against itself, measured like any two contenders.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

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
[[nodiscard]] Result<FloorResult> measure_floor(const SessionContext& context, const BaselineReport& baseline,
                                                ProgressReporter& progress, RoundTroubles& troubles);

}  // namespace pgtune::session
