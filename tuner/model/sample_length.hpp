// SPDX-License-Identifier: MIT
// How long a sample of a round is at least.
#pragma once

#include <algorithm>

namespace pgtune {

/// Seconds: five launches of `launch_s` each; of launches over 8 ms as many as fill 40 ms, two at least, because a
/// final of some hundred samples of five would take half a minute.
[[nodiscard]] inline double least_sample_s(double launch_s) {
  constexpr double kEnough_s = 40e-3;
  return std::min(5 * launch_s, std::max(2 * launch_s, kEnough_s));
}

}  // namespace pgtune
