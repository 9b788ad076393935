// SPDX-License-Identifier: MIT
// How many contenders and rounds race and final have, and how long their samples are: by whether the problem meets the
// power cap. The lengths of settled samples come from docs/measurements/power-cap.md.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/model/sampling.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::session {

/// Without a lead-in, so that they are short; and of a sample that is settled, to half a percent.
inline constexpr double kFloorSample_s = 20e-3, kRaceSample_s = 10e-3, kFinalSample_s = 20e-3;
inline constexpr SampleTiming kSettledSample{0.25, 0.5};

/// Differences inside it are ties at the power cap.
inline constexpr double kSettledMargin = 0.005;

struct FinalPlan {
  int finalists = 8;
  int rounds = 24;
  int max_rounds = 48;  ///< while the best two are unclear
  SampleTiming timing = {kFinalSample_s, 0};
};

/// Short: as the options say. Settled: two finalists (all of them with options.full), and a third of the rounds, each
/// of whose samples takes as long as thirty short ones; no rounds are added.
[[nodiscard]] FinalPlan final_plan(const SessionOptions& options, Sampling sampling);

/// One round of a settled race over those who are left.
struct SettledPass {
  SampleTiming timing;
  std::size_t variants = 0, algorithms = 0;  ///< who are in it, at most
};

/// A coarse pass over those who screened best and a settled one over the best of it.
[[nodiscard]] const std::vector<SettledPass>& settled_passes();

}  // namespace pgtune::session
