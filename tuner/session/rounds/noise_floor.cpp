// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/noise_floor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/session/time_estimate.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

constexpr double kLongestWarmUp_s = 1;
constexpr std::size_t kSteadySamples = 10;
constexpr double kSteady = 0.003;

/// Five samples and the five after them have the same median: single samples scatter too much to wait for.
bool steady(const std::vector<Sample>& samples) {
  if (samples.size() < kSteadySamples) return false;
  const auto times = per_launch_times(samples);
  const auto last = std::span(times).last(kSteadySamples);
  const double before_s = stats::median(last.first(kSteadySamples / 2));
  return std::abs(stats::median(last.last(kSteadySamples / 2)) / before_s - 1) < kSteady;
}

/// Samples of the baseline, which count for nothing, until they are steady or `limit_s` of wall time has passed.
Result<RoundRunner::End> warm_up(const SessionContext& context, int algorithm, double limit_s,
                                 RoundTroubles& troubles) {
  RoundRunner runner(context, Stage::kFloor, SampleTiming{kFloorSample_s, 0}, {baseline_entry(algorithm)}, troubles);
  const double start_s = context.clock.now_s();
  const RoundEntry& entry = runner.field().front();
  auto end = RoundRunner::End::kRan;
  while (end == RoundRunner::End::kRan && !entry.out && context.clock.now_s() - start_s < limit_s &&
         !steady(entry.samples)) {
    auto ran = runner.run_round();
    if (!ran) return ran;
    end = *ran;
  }
  return end;
}

FloorResult without(std::string why) {
  FloorResult out;
  out.note = fmt::format("no noise floor: {}; differences below {:.1f} % count as ties", why, 100 * out.floor.margin);
  return out;
}

/// The floor was given up for heat: the search goes on, and its race or final judges anew whether it may.
FloorResult given_up(RoundTroubles& troubles) {
  troubles.gave_up = false;
  return without("heat or jumping clocks spoilt five rounds in a row");
}

}  // namespace

NoiseFloor noise_floor(const std::vector<Sample>& samples) {
  std::map<int, std::vector<Sample>> rounds;
  for (const Sample& sample : samples) rounds[sample.round].push_back(sample);
  std::vector<Sample> over, under;
  for (auto& [round, pair] : rounds) {
    if (pair.size() != 2) continue;
    const bool in_order = pair[0].position < pair[1].position;
    if (in_order != (round % 2 == 1)) std::swap(pair[0], pair[1]);
    over.push_back(pair[0]);
    under.push_back(pair[1]);
  }
  NoiseFloor floor;
  const auto ratio = log_time_ratio(over, under);
  if (ratio.pairs < static_cast<std::size_t>(kMinimumRounds)) return floor;
  floor.rounds = static_cast<int>(ratio.pairs);
  floor.half_width = std::expm1(stats::half_width(ratio));
  floor.margin = std::max(floor.margin, 2 * floor.half_width);
  return floor;
}

Result<FloorResult> measure_floor(const SessionContext& context, const BaselineReport& baseline,
                                  ProgressReporter& progress, RoundTroubles& troubles) {
  if (static_cast<std::size_t>(baseline.best) >= baseline.algorithms.size()) return without("there is no baseline");
  std::optional<double> share_s;
  if (context.options.budget.seconds) share_s = *context.options.budget.seconds / 10;
  const auto too_short = [&](double round_s) { return share_s && *share_s < kMinimumRounds * round_s; };
  int rounds = std::max(context.options.floor_rounds, kMinimumRounds);
  const double expected_s = expected_round_s({kFloorSample_s, 0}, 2, baseline_launch_s(baseline));
  if (too_short(expected_s)) return without("the time budget is too short");
  progress.enter_rounds(Progress::Phase::kFloor, rounds, 0, rounds * expected_s);

  FloorResult out;
  const double limit_s = std::min(kLongestWarmUp_s, share_s.value_or(kLongestWarmUp_s) / 4);
  TRY_ASSIGN(const auto warm, warm_up(context, baseline.best, limit_s, troubles));
  if (warm == RoundRunner::End::kGaveUp) return given_up(troubles);

  RoundRunner runner(context, Stage::kFloor, SampleTiming{kFloorSample_s, 0},
                     {baseline_entry(baseline.best), baseline_entry(baseline.best)}, troubles);
  const auto& field = runner.field();
  const double start_s = context.clock.now_s();
  while (runner.rounds() < rounds) {
    TRY_ASSIGN(const auto end, runner.run_round());
    if (end == RoundRunner::End::kGaveUp) return given_up(troubles);
    out.interrupted = end == RoundRunner::End::kStopped;
    if (out.interrupted) break;
    if (field[0].out || field[1].out) {
      return without("the baseline failed: " + field[field[0].out ? 0 : 1].outcome.reason);
    }
    const double spent_s = runner.spent_s(), round_s = spent_s / runner.rounds();
    if (too_short(round_s)) return without("the time budget is too short");
    if (share_s)
      rounds = affordable_rounds(rounds, runner.rounds(), spent_s, *share_s - (context.clock.now_s() - start_s));
    progress.round(runner.rounds(), rounds, 0, round_s * (rounds - runner.rounds()));
  }
  if (runner.rounds() > 0) context.store.save_rounds(Stage::kFloor, contender_samples(field));
  out.time_s = device_time_s(field);
  for (const RoundEntry& entry : field)
    out.baseline_samples.insert(out.baseline_samples.end(), entry.samples.begin(), entry.samples.end());
  out.floor = noise_floor(out.baseline_samples);
  return out;
}

}  // namespace pgtune::session
