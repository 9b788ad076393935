// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/race.hpp"

#include <algorithm>
#include <utility>

#include "tuner/session/expected_times.hpp"
#include "tuner/session/rounds/race_cut.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

constexpr std::size_t kAlgorithms = 4;  ///< of the baseline, that race
/// Rounds without which a race says nothing.
constexpr int kLeastRounds = static_cast<int>(kFirstCut);

class Race {
 public:
  Race(RoundContext& rounds, const BaselineReport& baseline, double margin)
      : rounds_(rounds),
        options_(rounds.context.options),
        baseline_(baseline),
        rules_{margin, static_cast<std::size_t>(std::max(options_.finalists, 1)),
               planned_race_looks(options_.race_rounds)},
        launch_s_(baseline_launch_s(baseline)) {}

  [[nodiscard]] Result<RaceResult> run();

 private:
  /// Entries still in the race, and their times beside them.
  struct Survivors {
    std::vector<std::size_t> entries;
    std::vector<SampleTimes> times_s;
  };

  [[nodiscard]] std::vector<std::size_t> pick() const;
  [[nodiscard]] bool affordable(int done, double round_s) const;
  [[nodiscard]] Result<RoundRunner::End> run_rounds(RoundRunner& runner);
  [[nodiscard]] static Survivors survivors(const std::vector<RoundEntry>& field);
  void cut(std::vector<RoundEntry>& field) const;
  [[nodiscard]] RaceResult result(const RoundRunner& runner, RoundRunner::End end) const;

  RoundContext& rounds_;
  const SessionOptions& options_;
  const BaselineReport& baseline_;
  RaceRules rules_;
  double launch_s_;
};

Result<RaceResult> Race::run() {
  const auto picked = pick();
  const double expected_s = expected_round_s({kRaceSample_s, 0}, picked.size() + 1, launch_s_);
  if (picked.empty() || options_.race_rounds < 1 || !affordable(0, expected_s)) return RaceResult{};
  TRY_ASSIGN(auto field, variant_entries(rounds_, picked));
  RaceResult none;
  if (!field) none.end = RoundRunner::End::kStopped;
  if (!field || field->empty()) return none;

  const auto entrants = static_cast<std::int64_t>(field->size());
  for (const int algorithm : fastest_algorithms(baseline_, kAlgorithms)) field->push_back(baseline_entry(algorithm));
  rounds_.progress.take_counts(rounds_.state);
  rounds_.progress.enter_rounds(Progress::Phase::kRace, options_.race_rounds, entrants,
                                expected_race_s(options_, launch_s_) + expected_final_s(options_, launch_s_));
  RoundRunner runner(rounds_, Stage::kRace, SampleTiming{kRaceSample_s, 0}, std::move(*field));
  TRY_ASSIGN(const auto end, run_rounds(runner));
  if (runner.rounds() > 0) rounds_.context.store.save_rounds(Stage::kRace, contender_samples(runner.field()));
  return result(runner, end);
}

std::vector<std::size_t> Race::pick() const {
  const auto ranked = rounds_.state.ranked();
  std::vector<SampleTimes> screening;
  screening.reserve(ranked.size());
  for (const std::size_t index : ranked)
    screening.push_back(per_launch_times(rounds_.state.trial(index).report.samples));
  std::vector<std::size_t> entrants;
  for (const std::size_t i : race_entrants(screening, rules_.margin)) entrants.push_back(ranked[i]);
  if (entrants.size() <= rules_.finalists) return {};
  return entrants;
}

/// Whether a time budget has room for the rounds without which those so far would be of no use, and for the final.
bool Race::affordable(int done, double round_s) const {
  const auto left_s = rounds_.context.time_left_s();
  if (!left_s) return true;
  const int needed = std::max(kLeastRounds - done, 1);
  return *left_s - reserved_for_final_s(options_, launch_s_) >= needed * round_s;
}

Result<RoundRunner::End> Race::run_rounds(RoundRunner& runner) {
  std::vector<RoundEntry>& field = runner.field();
  double round_s = expected_round_s({kRaceSample_s, 0}, field.size(), launch_s_);
  while (runner.rounds() < options_.race_rounds && affordable(runner.rounds(), round_s)) {
    auto end = runner.run_round();
    if (!end || *end != RoundRunner::End::kRan) return end;
    const int done = runner.rounds();
    round_s = runner.spent_s() / done;
    cut(field);
    const std::size_t left = survivors(field).entries.size();
    rounds_.progress.round(done, options_.race_rounds, static_cast<std::int64_t>(left),
                           round_s * (options_.race_rounds - done) + expected_final_s(options_, launch_s_));
    if (left == 0 || (done >= kLeastRounds && left <= rules_.finalists)) break;
  }
  return RoundRunner::End::kRan;
}

Race::Survivors Race::survivors(const std::vector<RoundEntry>& field) {
  Survivors out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (!field[i].index || field[i].out) continue;
    out.entries.push_back(i);
    out.times_s.push_back(per_launch_times(field[i].samples));
  }
  return out;
}

void Race::cut(std::vector<RoundEntry>& field) const {
  const Survivors left = survivors(field);
  for (const std::size_t i : race_cut(left.times_s, rules_)) field[left.entries[i]].out = true;
}

RaceResult Race::result(const RoundRunner& runner, RoundRunner::End end) const {
  RaceResult out;
  out.entrants = measured_variants(runner.field());
  out.end = end;
  out.time_s = device_time_s(runner.field());
  std::vector<int> algorithms;
  std::vector<SampleTimes> times_s;
  for (const RoundEntry& entry : runner.field()) {
    const BaselineAlgorithm* const algorithm = algorithm_of(entry.contender);
    if (algorithm == nullptr || entry.out) continue;
    if (algorithm->index == baseline_.best) out.baseline_samples = entry.samples;
    algorithms.push_back(algorithm->index);
    times_s.push_back(per_launch_times(entry.samples));
  }
  if (runner.rounds() < kLeastRounds) return out;
  if (!algorithms.empty()) {
    for (const std::size_t i : race_order(times_s)) out.algorithms.push_back(algorithms[i]);
  }
  const Survivors left = survivors(runner.field());
  for (const std::size_t i : race_order(left.times_s)) out.order.push_back(*runner.field()[left.entries[i]].index);
  return out;
}

/// At the power cap screening says little: a variant within a fifth of the best may be the best.
constexpr double kScreeningMargin = 1;

double median_cycles(const std::vector<Sample>& samples) {
  std::vector<double> cycles;
  for (const Sample& sample : samples) {
    if (sample.sm_clock_hz > 0) cycles.push_back(sample.per_launch_s() * sample.sm_clock_hz);
  }
  return cycles.empty() ? 0 : stats::median(cycles);
}

Result<std::vector<std::size_t>> pick_settled(const SessionContext& context, const SearchState& state,
                                              std::size_t most) {
  const auto ranked = state.ranked();
  std::vector<SampleTimes> screening;
  std::vector<Variant> variants;
  RaceKeys cycles;
  for (const std::size_t index : ranked) {
    const std::vector<Sample>& samples = state.trial(index).report.samples;
    screening.push_back(per_launch_times(samples));
    cycles.push_back(median_cycles(samples));
    variants.push_back(state.variant(index));
  }
  std::vector<RaceKeys> keys;
  const auto clocks = context.options.settled_clocks ? context.options.settled_clocks() : nullptr;
  if (clocks) {
    TRY_ASSIGN(auto expected, expected_settled_times(*clocks, context.templates, context.problem, context.device.info(),
                                                     variants, cycles));
    keys.push_back(std::move(expected));
  }
  keys.push_back(std::move(cycles));
  std::vector<std::size_t> out;
  for (const std::size_t i : settled_entrants(screening, keys, kScreeningMargin, most)) out.push_back(ranked[i]);
  return out;
}

/// Into the field: those still in, of one kind, by their sample.
std::vector<std::size_t> by_sample(const std::vector<RoundEntry>& field, bool variants) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (!field[i].out && !field[i].samples.empty() && field[i].index.has_value() == variants) left.push_back(i);
  }
  std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
    return field[a].samples.back().per_launch_s() < field[b].samples.back().per_launch_s();
  });
  return left;
}

Result<RaceResult> run_settled_race(RoundContext& rounds, const BaselineReport& baseline) {
  const SessionContext& context = rounds.context;
  const double launch_s = baseline_launch_s(baseline);
  const auto time_left_s = context.time_left_s();
  const SettledRacePlan plan = settled_race_plan(context.options, launch_s, time_left_s);
  TRY_ASSIGN(const auto picked, pick_settled(context, rounds.state, plan.variants));
  if (picked.size() < 2) return RaceResult{};
  TRY_ASSIGN(auto field, variant_entries(rounds, picked));
  RaceResult out;
  if (!field) out.end = RoundRunner::End::kStopped;
  if (!field || field->empty()) return out;

  const auto entrants = static_cast<std::int64_t>(field->size());
  for (const int algorithm : fastest_algorithms(baseline, plan.algorithms)) field->push_back(baseline_entry(algorithm));
  rounds.progress.take_counts(rounds.state);
  const double final_s = expected_final_s(context.options, launch_s, Sampling::kSettled);
  rounds.progress.enter_rounds(Progress::Phase::kRace, 1, entrants,
                               expected_race_s(context.options, launch_s, Sampling::kSettled, time_left_s) + final_s);
  RoundRunner runner(rounds, Stage::kRace, plan.timing, std::move(*field));
  TRY_ASSIGN(const auto end, runner.run_round());
  out.end = end;
  rounds.progress.round(runner.rounds(), 1, entrants, final_s);
  if (runner.rounds() > 0) context.store.save_rounds(Stage::kRace, contender_samples(runner.field()));
  out.entrants = measured_variants(runner.field());
  out.time_s = device_time_s(runner.field());
  for (const std::size_t i : by_sample(runner.field(), true)) out.order.push_back(*runner.field()[i].index);
  for (const std::size_t i : by_sample(runner.field(), false)) {
    const RoundEntry& entry = runner.field()[i];
    const BaselineAlgorithm algorithm = *algorithm_of(entry.contender);
    out.algorithms.push_back(algorithm.index);
    if (algorithm.index == baseline.best) out.baseline_samples = entry.samples;
  }
  return out;
}

}  // namespace

Result<RaceResult> run_race(RoundContext& rounds, const BaselineReport& baseline, Sampling sampling, double margin) {
  if (sampling == Sampling::kSettled) return run_settled_race(rounds, baseline);
  return Race(rounds, baseline, margin).run();
}

}  // namespace pgtune::session
