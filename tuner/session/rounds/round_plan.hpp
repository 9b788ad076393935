// SPDX-License-Identifier: MIT
// How many contenders and rounds race, final and confirm rounds have, how long their samples are, by whether the
// problem meets the power cap, and how long all that takes. The lengths of settled samples come from
// docs/explanation/measuring.md.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/model/sampling.hpp"
#include "tuner/session/session.hpp"
#include "tuner/stats/interval.hpp"

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
  /// The final only chooses, and its choice is measured again in confirm rounds, with the baseline.
  bool confirms = false;
};

/// Short: as the options say. Settled: three finalists in one round, and then confirm rounds. With options.full all
/// finalists, and where energy windows choose the winner, in a third of the short final's rounds, each of whose samples
/// takes as long as thirty short ones: these rounds do not choose, and nothing is confirmed. With options.only_chooses
/// nothing is confirmed either.
[[nodiscard]] FinalPlan final_plan(const SessionOptions& options, Sampling sampling);

/// Number of confirm rounds for `contenders`: eight for two, and six for more, which is as few as an interval needs.
[[nodiscard]] int confirm_rounds(std::size_t contenders);

/// In confirm rounds: the winner, the baseline's best, and the nearest to one of them.
inline constexpr std::size_t kMostConfirmed = 3;

/// A contender further than this behind the best of its kind in the final is not measured again beside it.
inline constexpr double kConfirmReach = 3 * kSettledMargin;

/// The race at the power cap: one round.
struct SettledRacePlan {
  SampleTiming timing;
  std::size_t variants = 0, algorithms = 0;  ///< contenders, at most
};

/// Coarse samples of 32 variants, or of as many as there is time for beside the final, but at least of 14: screening
/// says too little for a final without a race. With options.settled_entrants they are settled, and of that number.
[[nodiscard]] SettledRacePlan settled_race_plan(const SessionOptions& options, double launch_s,
                                                std::optional<double> time_left_s);

/// GPU time of a sample with its lead-in. `launch_s`: of the baseline, a sample lasts least_sample_s() of it. Settled
/// ones take longer than asked for: a tenth of a second until two neighbouring tenths agree, and a sixth because
/// launches are counted while the clock is still high (means over the recordings h200-*-settled*.db).
[[nodiscard]] double expected_sample_s(const SampleTiming& timing, double launch_s);

/// Rounds without which there is no interval.
inline constexpr int kMinimumRounds = static_cast<int>(stats::kLeastValues);

/// Expected wall time of a round, before one has been timed. `launch_s`: of the baseline, a sample lasts
/// least_sample_s() of it.
[[nodiscard]] double expected_round_s(const SampleTiming& timing, std::size_t samples, double launch_s);
/// Expected wall time of a race of usual size, and of a whole final with its confirm rounds. Settled ones begin after a
/// pause of the GPU, and a settled race has fewer entrants where little of a time budget is left.
[[nodiscard]] double expected_race_s(const SessionOptions& options, double launch_s,
                                     Sampling sampling = Sampling::kShort,
                                     std::optional<double> time_left_s = std::nullopt);
[[nodiscard]] double expected_final_s(const SessionOptions& options, double launch_s,
                                      Sampling sampling = Sampling::kShort);

/// Expected wall time of the confirm rounds of a final; 0 where its plan has none.
[[nodiscard]] double expected_confirm_s(const FinalPlan& plan, double launch_s);
/// Expected wall time of race, final and confirm rounds. If little of a time budget is left, fewer variants race in
/// settled samples, and there are fewer short rounds.
[[nodiscard]] double expected_rounds_s(const SessionOptions& options, double launch_s, Sampling sampling,
                                       std::optional<double> time_left_s);

/// Wall time of a time budget kept for the race and the final, at most half of what is left of it; and for the final
/// alone, at most a quarter of the whole. Whole expectations where there is no budget. Settled rounds take their time
/// however little is left. Where they take more than is left, the search outlasts its budget in any case, and at least
/// half of the budget, or as long as they take, belongs to what comes before them: the result may be below zero then.
[[nodiscard]] double reserved_for_rounds_s(const SessionOptions& options, double launch_s, Sampling sampling,
                                           std::optional<double> time_left_s);
[[nodiscard]] double reserved_for_final_s(const SessionOptions& options, double launch_s);

/// The baseline's algorithms that screened best, the fastest first, at most `most`.
[[nodiscard]] std::vector<int> fastest_algorithms(const BaselineReport& baseline, std::size_t most);

/// Per launch, of the baseline's best algorithm; 0 without a baseline.
[[nodiscard]] double baseline_launch_s(const BaselineReport& baseline);

/// Rounds there is time for after `done` rounds that took `spent_s`: `wanted`, or fewer, but not below
/// kMinimumRounds (or `wanted`, where that is less).
[[nodiscard]] int affordable_rounds(int wanted, int done, double spent_s, std::optional<double> time_left_s);

}  // namespace pgtune::session
