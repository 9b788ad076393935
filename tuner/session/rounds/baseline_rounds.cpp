// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/baseline_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

constexpr double kShareHeldDown = 0.05, kClockBelow = 0.97;

bool is_clock_held_down(const Sample& sample, double allowed_hz) {
  return sample.sm_clock_hz > 0 && sample.sm_clock_hz < kClockBelow * allowed_hz;
}

/// A quarter of a short time budget belongs to both.
constexpr double kSteadyShare = 0.15, kFloorShare = 0.1;

/// Where a settled sample, after a pause of the GPU, would take more than its share, one as long as the share without a
/// lead-in: the cap shows in it too, only its time is not the settled one.
SampleTiming steady_timing(const std::optional<double>& budget_s, double launch_s) {
  const SampleTiming after_idling{kSettledSample.sample_s, kLeadInAfterIdling_s};
  if (!budget_s || kSteadyShare * *budget_s >= expected_sample_s(after_idling, launch_s)) return kSettledSample;
  return {kSteadyShare * *budget_s, 0};
}

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
Result<RoundRunner::End> warm_up(RoundContext& rounds, int algorithm, double limit_s) {
  const Clock& clock = rounds.context.clock;
  RoundRunner runner(rounds, Stage::kFloor, SampleTiming{kFloorSample_s, 0}, {baseline_entry(algorithm)});
  const double start_s = clock.now_s();
  const RoundEntry& entry = runner.field().front();
  auto end = RoundRunner::End::kRan;
  while (end == RoundRunner::End::kRan && !entry.out && clock.now_s() - start_s < limit_s && !steady(entry.samples)) {
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

bool met_power_cap(const Sample& sample, double allowed_hz) { return at_power_cap({sample}, allowed_hz); }

bool at_power_cap(const std::vector<Sample>& samples, double allowed_hz) {
  double held_s = 0, time_s = 0;
  bool counted = false;
  std::ptrdiff_t slow = 0;
  for (const Sample& sample : samples) {
    counted = counted || sample.power_cap_s;
    held_s += sample.power_cap_s.value_or(0);
    time_s += sample.time_s;
    if (is_clock_held_down(sample, allowed_hz)) ++slow;
  }
  return counted ? held_s > kShareHeldDown * time_s : 2 * slow > std::ssize(samples);
}

double allowed_clock_hz(const SessionContext& context) {
  const double locked_hz = context.options.conditions.locked_sm_clock_hz;
  return locked_hz > 0 ? locked_hz : context.device.info().max_sm_clock_hz;
}

Result<SteadyRun> measure_steady_run(RoundContext& rounds, const BaselineReport& baseline) {
  const SessionContext& context = rounds.context;
  const double start_s = context.clock.now_s();
  SteadyRun out;
  const bool has_baseline = static_cast<std::size_t>(baseline.best) < baseline.algorithms.size();
  if (!has_baseline || context.options.conditions.regime == Regime::kBurst) return out;
  const SampleTiming timing = steady_timing(context.options.budget.seconds, baseline_launch_s(baseline));
  rounds.progress.enter_rounds(Progress::Phase::kSteady, 1, 0, std::nullopt);
  RoundRunner runner(rounds, Stage::kSteady, timing, {baseline_entry(baseline.best)});
  TRY_ASSIGN(const auto end, runner.run_round());
  out.end = end;
  out.time_s = context.clock.now_s() - start_s;
  const std::vector<Sample>& samples = runner.field().front().samples;
  if (samples.empty() || (timing.settle_s > 0 && !samples.front().lead_in_s)) return out;
  context.store.save_rounds(Stage::kSteady, contender_samples(runner.field()));
  if (met_power_cap(samples.front(), allowed_clock_hz(context))) out.sampling = Sampling::kSettled;
  return out;
}

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

Result<FloorResult> measure_floor(RoundContext& rounds, const BaselineReport& baseline) {
  const SessionContext& context = rounds.context;
  if (static_cast<std::size_t>(baseline.best) >= baseline.algorithms.size()) return without("there is no baseline");
  std::optional<double> share_s;
  if (context.options.budget.seconds) share_s = kFloorShare * *context.options.budget.seconds;
  const auto too_short = [&](double round_s) { return share_s && *share_s < kMinimumRounds * round_s; };
  int planned = std::max(context.options.floor_rounds, kMinimumRounds);
  const double expected_s = expected_round_s({kFloorSample_s, 0}, 2, baseline_launch_s(baseline));
  if (too_short(expected_s)) return without("the time budget is too short");
  rounds.progress.enter_rounds(Progress::Phase::kFloor, planned, 0, std::nullopt);

  FloorResult out;
  const double start_s = context.clock.now_s();
  const double limit_s = std::min(kLongestWarmUp_s, share_s.value_or(kLongestWarmUp_s) / 4);
  TRY_ASSIGN(const auto warm, warm_up(rounds, baseline.best, limit_s));
  if (warm == RoundRunner::End::kGaveUp) return given_up(rounds.troubles);

  RoundRunner runner(rounds, Stage::kFloor, SampleTiming{kFloorSample_s, 0},
                     {baseline_entry(baseline.best), baseline_entry(baseline.best)});
  const auto& field = runner.field();
  while (runner.rounds() < planned) {
    TRY_ASSIGN(const auto end, runner.run_round());
    if (end == RoundRunner::End::kGaveUp) return given_up(rounds.troubles);
    out.interrupted = end == RoundRunner::End::kStopped;
    if (out.interrupted) break;
    if (field[0].out || field[1].out) {
      return without("the baseline failed: " + field[field[0].out ? 0 : 1].outcome.reason);
    }
    const double spent_s = runner.spent_s(), round_s = spent_s / runner.rounds();
    if (too_short(round_s)) return without("the time budget is too short");
    if (share_s)
      planned = affordable_rounds(planned, runner.rounds(), spent_s, *share_s - (context.clock.now_s() - start_s));
    rounds.progress.round(runner.rounds(), planned, 0, std::nullopt);
  }
  if (runner.rounds() > 0) context.store.save_rounds(Stage::kFloor, contender_samples(field));
  out.time_s = device_time_s(field);
  for (const RoundEntry& entry : field)
    out.baseline_samples.insert(out.baseline_samples.end(), entry.samples.begin(), entry.samples.end());
  out.floor = noise_floor(out.baseline_samples);
  return out;
}

}  // namespace pgtune::session
