// SPDX-License-Identifier: MIT
// When a load has run for so long that the GPU's clock no longer moves. At the power cap the clock follows the power
// of the last tenth of a second: a sample that begins earlier runs at the clock that its predecessor earned.
#pragma once

#include <algorithm>
#include <span>

namespace pgtune::gpu {

/// One piece of a load's lead-in.
struct SettlingPoint {
  double end_s = 0;         ///< GPU time since the lead-in's first launch
  double per_launch_s = 0;  ///< mean over the piece
};

/// docs/measurements/power-cap.md shows the curves that these come from.
struct SettlingRule {
  /// Pieces and the window suit `least_s`: a tenth of a second of lead-in has only tenths of that to compare.
  explicit SettlingRule(double lead_in_s)
      : least_s(lead_in_s), most_s(lead_in_s + 0.7), window_s(std::min(0.2, lead_in_s / 2)) {}

  double piece_s = 10e-3;  ///< length of a piece
  double least_s;          ///< no load counts as settled before
  double most_s;           ///< every load does after
  double window_s;         ///< its two halves are compared
  double steady = 0.003;   ///< and may differ by this, relative
};

/// Whether the time of a launch has stopped moving at the last of `points`, which are in the order of time. Pure.
[[nodiscard]] bool has_settled(std::span<const SettlingPoint> points, const SettlingRule& rule);

}  // namespace pgtune::gpu
