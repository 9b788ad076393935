// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/steady_run.hpp"

#include <iterator>

#include "tuner/session/rounds/round_plan.hpp"

namespace pgtune::session {

namespace {

constexpr double kShareHeldDown = 0.05, kClockBelow = 0.97;

bool is_clock_held_down(const Sample& sample, double allowed_hz) {
  return sample.sm_clock_hz > 0 && sample.sm_clock_hz < kClockBelow * allowed_hz;
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

Result<SteadyRun> measure_steady_run(const SessionContext& context, const BaselineReport& baseline,
                                     ProgressReporter& progress, RoundTroubles& troubles) {
  const bool has_baseline = static_cast<std::size_t>(baseline.best) < baseline.algorithms.size();
  if (!has_baseline || context.options.conditions.regime == Regime::kBurst) return SteadyRun{};
  progress.enter_rounds(Progress::Phase::kSteady, 1, 0, kSettledSample.sample_s + kSettledSample.settle_s);
  RoundRunner runner(context, Stage::kSteady, kSettledSample, {baseline_entry(baseline.best)}, troubles);
  TRY_ASSIGN(const auto end, runner.run_round());
  SteadyRun out;
  out.end = end;
  const std::vector<Sample>& samples = runner.field().front().samples;
  if (samples.empty() || !samples.front().lead_in_s) return out;
  context.store.save_rounds(Stage::kSteady, contender_samples(runner.field()));
  if (met_power_cap(samples.front(), allowed_clock_hz(context))) out.sampling = Sampling::kSettled;
  return out;
}

}  // namespace pgtune::session
