// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/round_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuner/model/sample_length.hpp"

namespace pgtune::session {
namespace {

/// One round chooses among three: what it cannot tell from the best is in the confirm rounds. A second one would lose
/// 0.02 % less, for the time of seventeen entrants of the race, which decide more.
constexpr int kSettledFinalists = 3, kChoosingRounds = 1;
/// Entrants of the race at the power cap. The fewest take the time of the round that a final does without.
constexpr std::size_t kFewestSettled = 14, kMostSettled = 32, kRacingAlgorithms = 3;
constexpr SampleTiming kCoarseSample{0.1, 0.1};
/// Confirm rounds of few contenders; of more, as many as have about as many samples.
constexpr int kConfirmRounds = 8, kConfirmSamples = 18;
/// Short rounds for which a settled one counts.
constexpr int kShortRoundsOfOne = 3;

/// What a round's first lead-in takes longer after a pause of the GPU.
double after_idling_s(const SampleTiming& timing) { return kLeadInAfterIdling_s - timing.settle_s; }

}  // namespace

SettledRacePlan settled_race_plan(const SessionOptions& options, double launch_s, std::optional<double> time_left_s) {
  const std::size_t algorithms = options.only_chooses ? 0 : kRacingAlgorithms;
  if (options.settled_entrants > 0) return {kSettledSample, options.settled_entrants, algorithms};
  SettledRacePlan plan{kCoarseSample, kMostSettled, algorithms};
  if (!time_left_s) return plan;
  const double race_s =
      *time_left_s - expected_final_s(options, launch_s, Sampling::kSettled) - after_idling_s(plan.timing);
  const double fit =
      std::floor(race_s / expected_sample_s(plan.timing, launch_s)) - static_cast<double>(plan.algorithms);
  plan.variants = static_cast<std::size_t>(std::clamp<double>(fit, kFewestSettled, kMostSettled));
  return plan;
}

FinalPlan final_plan(const SessionOptions& options, Sampling sampling) {
  FinalPlan plan;
  plan.finalists = std::max(options.finalists, 1);
  plan.rounds = std::max(options.final_rounds, 1);
  plan.max_rounds = options.max_final_rounds;
  if (sampling != Sampling::kSettled) return plan;
  if (!options.full) plan.finalists = std::min(plan.finalists, kSettledFinalists);
  const bool chooses = !options.full && options.objective == Objective::kTime;
  plan.confirms = chooses && !options.only_chooses;
  const int measuring = std::max(plan.rounds / kShortRoundsOfOne, kMinimumRounds);
  plan.rounds = std::min(plan.rounds, chooses ? kChoosingRounds : measuring);
  plan.max_rounds = plan.rounds;
  plan.timing = kSettledSample;
  return plan;
}

int confirm_rounds(std::size_t contenders) {
  const int affordable = kConfirmSamples / static_cast<int>(std::max<std::size_t>(contenders, 1));
  return std::clamp(affordable, kMinimumRounds, kConfirmRounds);
}

double expected_sample_s(const SampleTiming& timing, double launch_s) {
  constexpr double kLonger_s = 0.08, kMoreLaunches = 1.16;
  const double timed_s = std::max(timing.sample_s, least_sample_s(launch_s));
  if (timing.settle_s <= 0) return timed_s;
  return timing.settle_s + kLonger_s + kMoreLaunches * timed_s;
}

double expected_round_s(const SampleTiming& timing, std::size_t samples, double launch_s) {
  // Short lead-ins, and the way to the worker and back.
  const double overhead = timing.settle_s > 0 ? 1 : 1.25;
  return overhead * expected_sample_s(timing, launch_s) * static_cast<double>(samples);
}

double expected_race_s(const SessionOptions& options, double launch_s, Sampling sampling,
                       std::optional<double> time_left_s) {
  if (sampling == Sampling::kSettled) {
    const SettledRacePlan plan = settled_race_plan(options, launch_s, time_left_s);
    return after_idling_s(plan.timing) + expected_round_s(plan.timing, plan.variants + plan.algorithms, launch_s);
  }
  // Of some thousand variants a few dozen are near the best, and half of them leave after three rounds.
  constexpr std::size_t kEntrants = 32;
  return expected_round_s({kRaceSample_s, 0}, kEntrants, launch_s) * (options.race_rounds / 2);
}

double expected_final_s(const SessionOptions& options, double launch_s, Sampling sampling) {
  const bool settled = sampling == Sampling::kSettled;
  // The best two and the first, which often is one of them.
  const int baselines = options.only_chooses ? 0 : settled ? 3 : 2;
  const FinalPlan plan = final_plan(options, sampling);
  double final_s =
      expected_round_s(plan.timing, static_cast<std::size_t>(plan.finalists + baselines), launch_s) * plan.rounds;
  if (settled) final_s += after_idling_s(plan.timing);
  return final_s + expected_confirm_s(plan, launch_s);
}

double expected_confirm_s(const FinalPlan& plan, double launch_s) {
  if (!plan.confirms) return 0;
  return expected_round_s(plan.timing, kMostConfirmed, launch_s) * confirm_rounds(kMostConfirmed);
}

double expected_rounds_s(const SessionOptions& options, double launch_s, Sampling sampling,
                         std::optional<double> time_left_s) {
  const double both_s =
      expected_race_s(options, launch_s, sampling, time_left_s) + expected_final_s(options, launch_s, sampling);
  if (sampling == Sampling::kSettled || !time_left_s) return both_s;
  // At least six rounds of 24, and no race where few were tried.
  return std::min(both_s, std::max(*time_left_s, both_s / 4));
}

double reserved_for_rounds_s(const SessionOptions& options, double launch_s, Sampling sampling,
                             std::optional<double> time_left_s) {
  const double expected_s =
      expected_race_s(options, launch_s, sampling) + expected_final_s(options, launch_s, sampling);
  if (!time_left_s) return expected_s;
  const double half_s = std::max(*time_left_s, 0.0) / 2;
  if (sampling == Sampling::kSettled && options.budget.seconds && expected_s > *time_left_s)
    return *time_left_s - std::max(half_s, std::min(expected_s, *options.budget.seconds / 2));
  return std::min(expected_s, half_s);
}

double reserved_for_final_s(const SessionOptions& options, double launch_s) {
  const double expected_s = expected_final_s(options, launch_s);
  return options.budget.seconds ? std::min(expected_s, *options.budget.seconds / 4) : expected_s;
}

std::vector<int> fastest_algorithms(const BaselineReport& baseline, std::size_t most) {
  std::vector<int> out(baseline.algorithms.size());
  std::iota(out.begin(), out.end(), 0);
  const auto time_s = [&](int i) { return baseline.algorithms[static_cast<std::size_t>(i)].time_s; };
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) { return time_s(a) < time_s(b); });
  out.resize(std::min(out.size(), most));
  return out;
}

double baseline_launch_s(const BaselineReport& baseline) {
  const auto best = static_cast<std::size_t>(baseline.best);
  return best < baseline.algorithms.size() ? baseline.algorithms[best].time_s : 0;
}

int affordable_rounds(int wanted, int done, double spent_s, std::optional<double> time_left_s) {
  if (!time_left_s || done == 0 || spent_s <= 0) return wanted;
  const double more = std::floor(std::max(0.0, *time_left_s) / (spent_s / done));
  if (more >= wanted - done) return wanted;
  return std::min(wanted, std::max(kMinimumRounds, done + static_cast<int>(more)));
}

}  // namespace pgtune::session
