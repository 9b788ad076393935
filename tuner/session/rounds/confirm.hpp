// SPDX-License-Identifier: MIT
// Confirm rounds: whom the final chose, its runner-up where that is near, and the baseline are measured again, in
// rounds that had no part in choosing, and what is claimed comes from these.
#pragma once

#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

/// Who is in the confirm rounds after a final whose ranking begins with `ranked`: its winner, the fastest of the
/// final's algorithms, and a third: the library's first choice `first` where that is another one and the final shows
/// it inside kFirstReach of the fastest, because a ratio to an algorithm that only looked fastest flatters; else the
/// next of the ranking where the final shows it inside kConfirmReach of the winner. Without samples. Pure.
/// Precondition: the final has the winner.
[[nodiscard]] std::vector<RoundEntry> confirm_field(const std::vector<RoundEntry>& final,
                                                    const std::vector<Variant>& ranked, int first);

struct ConfirmResult {
  std::vector<RoundEntry> field;  ///< who lived through every round run; each has a sample
  RoundRunner::End end = RoundRunner::End::kRan;
  double time_s = 0;  ///< device time of its samples
  int rounds = 0;

  /// Every round was run that was to be, or in a replay as many as give intervals.
  [[nodiscard]] bool whole() const;
};

/// Runs confirm_rounds() of a confirm_field(), in a replay the recorded ones, and saves their samples. Who fails is out
/// and gets the failure as its outcome. `launch_s`: of the winner, for the expected time. Errors: those of the device.
[[nodiscard]] Result<ConfirmResult> run_confirm(const SessionContext& context, SearchState& state,
                                                std::vector<RoundEntry> field, const SampleTiming& timing,
                                                double launch_s, ProgressReporter& progress, RoundTroubles& troubles);

}  // namespace pgtune::session
