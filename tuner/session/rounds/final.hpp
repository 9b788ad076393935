// SPDX-License-Identifier: MIT
// The final: fresh rounds of samples in which the best variants and the baseline meet, so that the winner's numbers are
// not those it was picked by. At the power cap it has few rounds and only chooses. The chosen variant, the baseline and
// the contender nearest to one of them are then measured again in confirm rounds, which the reported figures come from.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

struct FinalResult {
  std::vector<RoundEntry> field;  ///< contenders that lived through every round run; each has a sample
  RoundRunner::End end = RoundRunner::End::kRan;
  double time_s = 0;  ///< device time of its samples

  /// Every round was run that was to be.
  [[nodiscard]] bool whole() const { return end == RoundRunner::End::kRan; }
};

/// Rounds added at a time while the best two are unclear.
inline constexpr int kMoreFinalRounds = 8;

/// How often a final looks whether the best two are clear: after its first rounds and after each addition. At least 1.
[[nodiscard]] int planned_final_looks(const FinalPlan& plan);

/// Picks finalists, runs the rounds, and saves their samples. Finalists are the first of `raced`, which indexes the
/// state, then the next best by screening until there are plan.finalists. `algorithms`: of the baseline, fastest first;
/// the first two and the library's own first choice are in the final, and in its result also where one failed after its
/// first sample. A variant that fails in a round is out and gets the failure as its outcome; when none is left, the
/// next best variants get their final. While the best two can neither be told apart nor called a tie (by `margin`),
/// eight rounds at a time are added, up to plan.max_rounds: by intervals that hold over all these looks
/// (stats::look_confidence). A time budget may shorten it to as few rounds as an interval needs. An empty field: no
/// variant lived through a final. Errors: those of the device, or a baseline that failed in every round.
[[nodiscard]] Result<FinalResult> run_final(RoundContext& rounds, const BaselineReport& baseline, const FinalPlan& plan,
                                            double margin, const std::vector<std::size_t>& raced,
                                            const std::vector<int>& algorithms);

/// The contenders of confirm rounds after a final that chose `chosen`: that, the fastest of the final's algorithms, and
/// of the others the one that the final shows nearest to the best of its kind, if inside kConfirmReach: a variant that
/// may be the faster one, or an algorithm, as a ratio to one that only looked fastest flatters. Without samples. Pure.
/// Precondition: the final has `chosen`.
[[nodiscard]] std::vector<RoundEntry> confirm_field(const std::vector<RoundEntry>& final, const Variant& chosen);

/// Runs confirm_rounds() of a confirm_field(), and saves their samples. A variant that fails is out and gets the
/// failure as its outcome. `launch_s`: of the winner, for the expected time. Errors: those of the device.
[[nodiscard]] Result<FinalResult> run_confirm(RoundContext& rounds, std::vector<RoundEntry> field,
                                              const SampleTiming& timing, double launch_s);

}  // namespace pgtune::session
