// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/settled_race.hpp"

#include <algorithm>
#include <utility>

#include "tuner/session/pipeline/finalist_builds.hpp"
#include "tuner/session/rounds/race_cut.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/session/settled_times.hpp"
#include "tuner/session/time_estimate.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

/// At the power cap screening says little: whoever was within a fifth of the best may be the best.
constexpr double kScreeningMargin = 1;

double median_cycles(const std::vector<Sample>& samples) {
  std::vector<double> cycles;
  for (const Sample& sample : samples) {
    if (sample.sm_clock_hz > 0) cycles.push_back(sample.per_launch_s() * sample.sm_clock_hz);
  }
  return cycles.empty() ? 0 : stats::median(cycles);
}

Result<std::vector<std::size_t>> pick(const SessionContext& context, const SearchState& state, std::size_t most) {
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

bool is_variant(const RoundEntry& entry) { return entry.index.has_value(); }

/// Into the field: those still in, of one kind, by their sample.
std::vector<std::size_t> fastest(const std::vector<RoundEntry>& field, bool variants) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (!field[i].out && !field[i].samples.empty() && is_variant(field[i]) == variants) left.push_back(i);
  }
  std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
    return field[a].samples.back().per_launch_s() < field[b].samples.back().per_launch_s();
  });
  return left;
}

}  // namespace

Result<RaceResult> run_settled_race(const SessionContext& context, SearchState& state, const BaselineReport& baseline,
                                    ProgressReporter& progress, RoundTroubles& troubles) {
  const SettledRacePlan plan = settled_race_plan(context.options);
  TRY_ASSIGN(const auto picked, pick(context, state, plan.variants));
  const double launch_s = baseline_launch_s(baseline);
  const double final_s = expected_final_s(context.options, launch_s, Sampling::kSettled);
  const auto time_left_s = context.time_left_s();
  if (picked.size() < 2 || (time_left_s && *time_left_s < final_s)) return RaceResult{};
  TRY_ASSIGN(auto built, build_finalists(context, state, picked));
  RaceResult out;
  if (!built) out.end = RoundRunner::End::kStopped;
  if (!built || built->empty()) return out;

  std::vector<RoundEntry> field = variant_entries(state, std::move(*built));
  const auto entrants = static_cast<std::int64_t>(field.size());
  for (const int algorithm : fastest_algorithms(baseline, plan.algorithms)) field.push_back(baseline_entry(algorithm));
  progress.take_counts(state);
  progress.enter_rounds(Progress::Phase::kRace, 1, entrants,
                        expected_race_s(context.options, launch_s, Sampling::kSettled) + final_s);
  RoundRunner runner(context, Stage::kRace, plan.timing, std::move(field), troubles, [&](const RoundEntry& entry) {
    if (entry.index) record_failure(context, state, *entry.index, entry.outcome);
  });
  TRY_ASSIGN(const auto end, runner.run_round());
  out.end = end;
  progress.round(runner.rounds(), 1, entrants, final_s);
  if (runner.rounds() > 0) context.store.save_rounds(Stage::kRace, contender_samples(runner.field()));
  out.entrants = measured_variants(runner.field());
  out.time_s = device_time_s(runner.field());
  for (const std::size_t i : fastest(runner.field(), true)) out.order.push_back(*runner.field()[i].index);
  for (const std::size_t i : fastest(runner.field(), false)) {
    const RoundEntry& entry = runner.field()[i];
    const BaselineAlgorithm algorithm = *algorithm_of(entry.contender);
    out.algorithms.push_back(algorithm.index);
    if (algorithm.index == baseline.best) out.baseline_samples = entry.samples;
  }
  return out;
}

}  // namespace pgtune::session
