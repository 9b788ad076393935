// SPDX-License-Identifier: MIT
// The final: fresh rounds of samples in which the best variants and the baseline meet, so that the winner's numbers are
// not those it was picked by. At the power cap it has few rounds and only chooses; confirm.hpp has the numbers.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/session/progress_reporter.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/rounds.hpp"

namespace pgtune::session {

struct FinalResult {
  std::vector<RoundEntry>
      field;  ///< the baselines, and the variants that lived through every round run; each has a sample
  RoundRunner::End end = RoundRunner::End::kRan;  ///< otherwise ended before all rounds were run
  double time_s = 0;                              ///< device time of its samples

  /// Every round was run that was to be.
  [[nodiscard]] bool whole() const { return end == RoundRunner::End::kRan; }
};

/// Rounds added at a time while the best two are unclear.
inline constexpr int kMoreFinalRounds = 8;

/// How often a final looks whether the best two are clear: after its first rounds and after each addition. At least 1.
[[nodiscard]] int planned_final_looks(const FinalPlan& plan);

class Final {
 public:
  /// `margin`: of ties. All references must outlive the final.
  Final(const SessionContext& context, SearchState& state, const BaselineReport& baseline, const FinalPlan& plan,
        double margin, ProgressReporter& progress, RoundTroubles& troubles);

  /// Picks finalists, runs the rounds, and saves their samples. Finalists are the first of `raced`, which indexes the
  /// state, then the next best by screening until there are plan.finalists. Whoever fails in a round is out and gets
  /// the failure as its outcome; when nobody is left, the next best variants get their final. While the best two can
  /// neither be told apart nor called a tie, eight rounds at a time are added, up to plan.max_rounds: by intervals that
  /// hold over all these looks (stats::look_confidence). A time budget may shorten it to as few rounds as an interval
  /// needs. An empty field: nobody lived through a final. Errors: those of the device, or a baseline that failed in
  /// every round.
  /// `algorithms`: of the baseline, fastest first; the first two and the library's own first choice are in the final.
  [[nodiscard]] Result<FinalResult> run(const std::vector<std::size_t>& raced, const std::vector<int>& algorithms);

 private:
  [[nodiscard]] std::vector<std::size_t> pick(const std::vector<std::size_t>& raced) const;
  void add_baselines(std::vector<RoundEntry>& field, const std::vector<int>& algorithms) const;
  [[nodiscard]] Result<RoundRunner::End> run_rounds(RoundRunner& runner);
  [[nodiscard]] bool best_two_unclear(const std::vector<RoundEntry>& field) const;
  [[nodiscard]] Result<FinalResult> result(const RoundRunner& runner, RoundRunner::End end) const;

  const SessionContext& context_;
  SearchState& state_;
  const BaselineReport& baseline_;
  FinalPlan plan_;
  double margin_;
  ProgressReporter& progress_;
  RoundTroubles& troubles_;
  std::set<std::size_t> tried_;  ///< finalists of finals nobody survived
};

}  // namespace pgtune::session
