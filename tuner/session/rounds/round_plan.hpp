// SPDX-License-Identifier: MIT
// How many contenders and rounds race, final and confirm rounds have, and how long their samples are: by whether the
// problem meets the power cap. The lengths of settled samples come from docs/measurements/power-cap.md.
#pragma once

#include <cstddef>

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
  /// The final only chooses, and whom it chose is measured again in rounds of its own, with the baseline.
  bool confirms = false;
};

/// Short: as the options say. Settled: three finalists in two rounds, and then confirm rounds. With options.full all
/// finalists, and where energy windows choose the winner, in a third of the short final's rounds, each of whose samples
/// takes as long as thirty short ones: these rounds do not choose, and nothing is confirmed.
[[nodiscard]] FinalPlan final_plan(const SessionOptions& options, Sampling sampling);

/// Confirm rounds of so many contenders: eight for two, and six for more, which is as few as an interval needs.
[[nodiscard]] int confirm_rounds(std::size_t contenders);

/// In confirm rounds: the winner, the baseline's best, and the nearest to one of them.
inline constexpr std::size_t kMostConfirmed = 3;

/// Who is further than this behind the best of its kind in the final is not measured again beside it.
inline constexpr double kConfirmReach = 3 * kSettledMargin;

/// GPU time of a problem at the power cap by default: steady run, race, final and confirm rounds.
inline constexpr double kSettledLimit_s = 40;

/// The race at the power cap: one round.
struct SettledRacePlan {
  SampleTiming timing;
  std::size_t variants = 0, algorithms = 0;  ///< who are in it, at most
};

/// Coarse samples. With options.settled_entrants they are settled, and of so many variants.
[[nodiscard]] SettledRacePlan settled_race_plan(const SessionOptions& options);

/// GPU time of a sample with its lead-in. `launch_s`: of the baseline, a sample lasts least_sample_s() of it. Settled
/// ones take longer than asked for: a tenth of a second until two neighbouring tenths agree, and a sixth because
/// launches are counted while the clock is still high (means over the recordings h200-*-settled*.db).
[[nodiscard]] double expected_sample_s(const SampleTiming& timing, double launch_s);

}  // namespace pgtune::session
