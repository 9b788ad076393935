// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/race.hpp"

#include <algorithm>
#include <utility>

#include "tuner/session/pipeline/finalist_builds.hpp"
#include "tuner/session/rounds/race_cut.hpp"
#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/session/time_estimate.hpp"

namespace pgtune::session {
namespace {

constexpr std::size_t kAlgorithms = 4;  ///< of the baseline, that race
/// Rounds without which a race says nothing.
constexpr int kLeastRounds = static_cast<int>(kFirstCut);

class Race {
 public:
  Race(const SessionContext& context, SearchState& state, const BaselineReport& baseline, double margin,
       ProgressReporter& progress, RoundTroubles& troubles)
      : context_(context),
        options_(context.options),
        state_(state),
        baseline_(baseline),
        progress_(progress),
        troubles_(troubles),
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

  const SessionContext& context_;
  const SessionOptions& options_;
  SearchState& state_;
  const BaselineReport& baseline_;
  ProgressReporter& progress_;
  RoundTroubles& troubles_;
  RaceRules rules_;
  double launch_s_;
};

Result<RaceResult> Race::run() {
  const auto picked = pick();
  const double expected_s = expected_round_s({kRaceSample_s, 0}, picked.size() + 1, launch_s_);
  if (picked.empty() || options_.race_rounds < 1 || !affordable(0, expected_s)) return RaceResult{};
  TRY_ASSIGN(auto built, build_finalists(context_, state_, picked));
  RaceResult none;
  if (!built) none.end = RoundRunner::End::kStopped;
  if (!built || built->empty()) return none;

  std::vector<RoundEntry> field = variant_entries(state_, std::move(*built));
  const auto entrants = static_cast<std::int64_t>(field.size());
  for (const int algorithm : fastest_algorithms(baseline_, kAlgorithms)) field.push_back(baseline_entry(algorithm));
  progress_.take_counts(state_);
  progress_.enter_rounds(Progress::Phase::kRace, options_.race_rounds, entrants,
                         expected_race_s(options_, launch_s_) + expected_final_s(options_, launch_s_));
  RoundRunner runner(context_, Stage::kRace, SampleTiming{kRaceSample_s, 0}, std::move(field), troubles_,
                     [&](const RoundEntry& entry) {
                       if (entry.index) record_failure(context_, state_, *entry.index, entry.outcome);
                     });
  TRY_ASSIGN(const auto end, run_rounds(runner));
  if (runner.rounds() > 0) context_.store.save_rounds(Stage::kRace, contender_samples(runner.field()));
  return result(runner, end);
}

std::vector<std::size_t> Race::pick() const {
  const auto ranked = state_.ranked();
  std::vector<SampleTimes> screening;
  screening.reserve(ranked.size());
  for (const std::size_t index : ranked) screening.push_back(per_launch_times(state_.trial(index).report.samples));
  std::vector<std::size_t> entrants;
  for (const std::size_t i : race_entrants(screening, rules_.margin)) entrants.push_back(ranked[i]);
  if (entrants.size() <= rules_.finalists) return {};
  return entrants;
}

/// Whether a time budget has room for the rounds without which those so far would be of no use, and for the final.
bool Race::affordable(int done, double round_s) const {
  const auto left_s = context_.time_left_s();
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
    progress_.round(done, options_.race_rounds, static_cast<std::int64_t>(left),
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

}  // namespace

Result<RaceResult> run_race(const SessionContext& context, SearchState& state, const BaselineReport& baseline,
                            double margin, ProgressReporter& progress, RoundTroubles& troubles) {
  return Race(context, state, baseline, margin, progress, troubles).run();
}

}  // namespace pgtune::session
