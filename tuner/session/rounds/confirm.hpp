// SPDX-License-Identifier: MIT
// Confirm rounds: whom the final chose, the baseline and who was nearest to one of them are measured again, in rounds
// that had no part in choosing, and what is claimed comes from these.
#pragma once

#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

/// Who is in the confirm rounds after a final that chose `chosen`: that, the fastest of the final's algorithms, and of
/// the others the one that the final shows nearest to the best of its kind, if inside kConfirmReach: a variant that may
/// be the faster one, or an algorithm, as a ratio to one that only looked fastest flatters. Without samples. Pure.
/// Precondition: the final has `chosen`.
[[nodiscard]] std::vector<RoundEntry> confirm_field(const std::vector<RoundEntry>& final, const Variant& chosen);

struct ConfirmResult {
  std::vector<RoundEntry> field;  ///< who lived through every round run; each has a sample
  RoundRunner::End end = RoundRunner::End::kRan;
  double time_s = 0;  ///< device time of its samples

  /// Every round was run that was to be.
  [[nodiscard]] bool whole() const { return end == RoundRunner::End::kRan; }
};

/// Runs confirm_rounds() of a confirm_field(), and saves their samples. Who fails is out
/// and gets the failure as its outcome. `launch_s`: of the winner, for the expected time. Errors: those of the device.
[[nodiscard]] Result<ConfirmResult> run_confirm(const SessionContext& context, SearchState& state,
                                                std::vector<RoundEntry> field, const SampleTiming& timing,
                                                double launch_s, ProgressReporter& progress, RoundTroubles& troubles);

}  // namespace pgtune::session
