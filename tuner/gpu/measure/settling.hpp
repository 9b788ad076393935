// SPDX-License-Identifier: MIT
// When a load has run for so long that the GPU's clock no longer moves. At the power cap the clock follows the power
// of the last tenth of a second: a sample that begins earlier runs at the clock that its predecessor earned.
#pragma once

#include <algorithm>
#include <span>

#include "tuner/model/sampling.hpp"

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

  /// The rule for a load that follows `idle_s` of no load. An idle GPU saves up for the cap, which holds a mean over
  /// seconds: what comes next runs 1 to 3 % too fast for two of them, however short the pause was.
  [[nodiscard]] SettlingRule after(double idle_s) const {
    SettlingRule rule = *this;
    if (idle_s < kIdle_s) return rule;
    rule.least_s = std::max(least_s, kLeadInAfterIdling_s);
    rule.most_s = rule.least_s + (most_s - least_s);
    return rule;
  }

  static constexpr double kIdle_s =
      50e-3;  ///< twice what lies between the rounds of a stage, half of what was measured

  double piece_s = 10e-3;  ///< length of a piece
  double least_s;          ///< no load counts as settled before
  double most_s;           ///< every load does after
  double window_s;         ///< its two halves are compared
  double steady = 0.003;   ///< and may differ by this, relative
};

/// Whether the time of a launch has stopped moving at the last of `points`, which are in the order of time. Pure.
[[nodiscard]] bool has_settled(std::span<const SettlingPoint> points, const SettlingRule& rule);

}  // namespace pgtune::gpu
