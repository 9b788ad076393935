// SPDX-License-Identifier: MIT
// Two launchables timed in turn, so that drift of the clock cancels in their ratio.
#pragma once

#include <vector>

#include "tuner/gpu/measure/sample_timer.hpp"

namespace pgtune::gpu {

/// What a launch took, round by round.
struct SideBySide {
  std::vector<double> first_s, second_s;
};

/// About a third of a second of samples. `launch_s`: about what a launch of either takes; both are put into graphs
/// where that is short.
[[nodiscard]] CudaResult<SideBySide> time_side_by_side(SampleTimer& timer, LaunchSeries& first, LaunchSeries& second,
                                                       double launch_s);

}  // namespace pgtune::gpu
