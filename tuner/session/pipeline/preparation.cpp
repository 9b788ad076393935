// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/preparation.hpp"

#include <optional>
#include <utility>

#include "tuner/operation/gemm_operation.hpp"
#include "tuner/session/pipeline/builds.hpp"

namespace pgtune::session {
namespace {

/// By the device's compile workers, while nothing else is done.
Result<protocol::BuildDone> build_now(const SessionContext& context, protocol::BuildRequest request) {
  protocol::BuildDone out{request.id, {OutcomeKind::kTimeout, "stopped before it was built"}, {}};
  TRY(build_each(
      context.device, context.stop, 1, [&](std::size_t) { return std::optional(std::move(request)); },
      [&](std::size_t, protocol::BuildDone done) { out = std::move(done); }));
  return out;
}

/// Whether there was a template among the baselines: all of them are given up with that reason.
bool give_up_builds(std::vector<protocol::BaselineBuild>& builds, const std::string& why) {
  bool any = false;
  for (protocol::BaselineBuild& baseline : builds) {
    any = any || baseline.built;
    if (baseline.built) baseline.unavailable = why;
    baseline.built.reset();
  }
  return any;
}

Result<BaselineReport> prepare_device(const SessionContext& context, Opponents opponents) {
  TRY_ASSIGN(auto problem, operation::with_operation(context.problem));
  protocol::PrepareRequest request{std::move(problem), context.options.conditions};
  request.alone = opponents == Opponents::kNone;
  if (request.alone) return context.device.prepare(request);
  auto builds = build_baselines(context.problem, context.templates, context.device.info(),
                                [&](protocol::BuildRequest build) { return build_now(context, std::move(build)); });
  if (!builds) return tl::unexpected<Error>(std::move(builds.error()));
  request.builds = std::move(*builds);
  auto baseline = context.device.prepare(request);
  // What took the worker with it may have been a template, which is code like a variant's.
  if (!baseline && baseline.error().kind == ErrorKind::kEnvironment &&
      give_up_builds(request.builds, baseline.error().text()))
    baseline = context.device.prepare(request);
  return baseline;
}

}  // namespace

Result<Preparation> prepare(SessionContext& context, ProgressReporter& progress, Opponents opponents) {
  const double start_s = context.clock.now_s();
  TRY_ASSIGN(auto baseline, doing("preparing " + context.problem.title(), prepare_device(context, opponents)));
  const double time_s = context.clock.now_s() - start_s;
  if (opponents == Opponents::kBaseline) context.store.save_baseline(baseline);
  context.problem = with_counts(std::move(context.problem), baseline.counts);
  if (const auto best = static_cast<std::size_t>(baseline.best); best < baseline.algorithms.size())
    progress.baseline(baseline.name(), baseline.algorithms[best].time_s);
  // A look at them takes as long as the preparation for a small problem.
  OtherProcesses others;
  if (opponents == Opponents::kBaseline) others = context.device.other_processes();
  return Preparation{std::move(baseline), std::move(others), time_s};
}

double expected_ceilings_s(const Budget& budget) {
  constexpr double kCeilings_s = 8, kMostOfBudget = 0.125;
  return budget.seconds && kCeilings_s > kMostOfBudget * *budget.seconds ? 0 : kCeilings_s;
}

std::vector<std::string> measure_ceilings(const SessionContext& context, ProgressReporter& progress) {
  if (context.store.ceilings(context.device.info())) return {};
  if (expected_ceilings_s(context.options.budget) == 0) return {};  // a later session has the time
  progress.enter_rounds(Progress::Phase::kCeilings, 1, 0, std::nullopt);
  const auto ceilings = context.device.measure_ceilings();
  if (!ceilings) return {"the GPU's ceilings were not measured: " + ceilings.error().text()};
  context.store.save_ceilings(*ceilings);
  return {};
}

}  // namespace pgtune::session
