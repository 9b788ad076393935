// SPDX-License-Identifier: MIT
// The race at the power cap: few contenders, the baseline's algorithms among them, in settled samples that grow longer
// while the slower ones leave.
#pragma once

#include "tuner/session/rounds/race.hpp"

namespace pgtune::session {

/// Runs settled_passes(): of the variants that screened best and the algorithms of the baseline that did, those that
/// were fastest in a pass are in the next. The order of the result holds who came through the last one. No race where
/// there is only one variant, or time for less than a final. Otherwise as run_race().
[[nodiscard]] Result<RaceResult> run_settled_race(const SessionContext& context, SearchState& state,
                                                  const BaselineReport& baseline, ProgressReporter& progress,
                                                  RoundTroubles& troubles);

}  // namespace pgtune::session
