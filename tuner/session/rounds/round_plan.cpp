// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/round_plan.hpp"

#include <algorithm>

#include "tuner/model/sample_length.hpp"
#include "tuner/stats/interval.hpp"

namespace pgtune::session {
namespace {

/// Two rounds choose among three: confirm rounds have whom these cannot tell from the best.
constexpr int kSettledFinalists = 3, kChoosingRounds = 2;
constexpr int kIntervalRounds = static_cast<int>(stats::kLeastValues);
/// Confirm rounds of few contenders; of more, as many as have about as many samples.
constexpr int kConfirmRounds = 8, kConfirmSamples = 18;
/// Short rounds for which a settled one counts.
constexpr int kShortRoundsOfOne = 3;

}  // namespace

SettledRacePlan settled_race_plan(const SessionOptions& options) {
  if (options.settled_entrants > 0) return {kSettledSample, options.settled_entrants, 3};
  return {{0.1, 0.1}, 20, 3};
}

FinalPlan final_plan(const SessionOptions& options, Sampling sampling) {
  FinalPlan plan;
  plan.finalists = std::max(options.finalists, 1);
  plan.rounds = std::max(options.final_rounds, 1);
  plan.max_rounds = options.max_final_rounds;
  if (sampling != Sampling::kSettled) return plan;
  if (!options.full) plan.finalists = std::min(plan.finalists, kSettledFinalists);
  plan.confirms = !options.full && options.objective == Objective::kTime;
  const int measuring = std::max(plan.rounds / kShortRoundsOfOne, kIntervalRounds);
  plan.rounds = std::min(plan.rounds, plan.confirms ? kChoosingRounds : measuring);
  plan.max_rounds = plan.rounds;
  plan.timing = kSettledSample;
  return plan;
}

int confirm_rounds(std::size_t contenders) {
  const int affordable = kConfirmSamples / static_cast<int>(std::max<std::size_t>(contenders, 1));
  return std::clamp(affordable, kIntervalRounds, kConfirmRounds);
}

double expected_sample_s(const SampleTiming& timing, double launch_s) {
  constexpr double kLonger_s = 0.08, kMoreLaunches = 1.16;
  const double timed_s = std::max(timing.sample_s, least_sample_s(launch_s));
  if (timing.settle_s <= 0) return timed_s;
  return timing.settle_s + kLonger_s + kMoreLaunches * timed_s;
}

}  // namespace pgtune::session
