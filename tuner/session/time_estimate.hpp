// SPDX-License-Identifier: MIT
// How long the rest of a search takes: builds and trials run side by side, so the slower of the two decides; then come
// the rounds of race and final.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/stats/interval.hpp"

namespace pgtune::session {

class TimeEstimate {
 public:
  explicit TimeEstimate(std::size_t build_slots) : build_slots_(build_slots) {}

  void build_finished(double duration_s);
  void trial_finished(double duration_s);
  /// Nothing until enough has finished to judge by.
  [[nodiscard]] std::optional<double> remaining_s(std::size_t builds_left, std::size_t trials_left) const;

 private:
  std::size_t build_slots_;
  std::size_t builds_ = 0, trials_ = 0;
  double build_mean_s_ = 0, trial_mean_s_ = 0;
};

/// Rounds without which there is no interval.
inline constexpr int kMinimumRounds = static_cast<int>(stats::kLeastValues);

/// Expected wall time of a round, before one has been timed. `launch_s`: of the baseline, a sample lasts
/// least_sample_s() of it.
[[nodiscard]] double expected_round_s(const SampleTiming& timing, std::size_t samples, double launch_s);
/// Expected wall time of a race of usual size, and of a whole final with its confirm rounds. Settled ones begin after a
/// pause of the GPU.
[[nodiscard]] double expected_race_s(const SessionOptions& options, double launch_s,
                                     Sampling sampling = Sampling::kShort);
[[nodiscard]] double expected_final_s(const SessionOptions& options, double launch_s,
                                      Sampling sampling = Sampling::kShort);

/// GPU time of a search at the power cap but for its screening: steady run, race, final and confirm rounds, with as
/// many contenders as there may be. By default at most kSettledLimit_s.
[[nodiscard]] double expected_settled_s(const SessionOptions& options, double launch_s);

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
