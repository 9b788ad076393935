// SPDX-License-Identifier: MIT
// The race at the power cap: one round of few contenders, the baseline's algorithms among them, in samples with a
// lead-in.
#pragma once

#include "tuner/session/rounds/race.hpp"

namespace pgtune::session {

/// Runs the one round of settled_race_plan() over variants, those that screened fastest and those of the fewest cycles
/// in turns, and the algorithms of the baseline that screened best. The order of the result holds all who came through.
/// No race where there is only one variant, or time for less than a final. Otherwise as run_race().
[[nodiscard]] Result<RaceResult> run_settled_race(const SessionContext& context, SearchState& state,
                                                  const BaselineReport& baseline, ProgressReporter& progress,
                                                  RoundTroubles& troubles);

}  // namespace pgtune::session
