// SPDX-License-Identifier: MIT
#include "tuner/session/session_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <variant>

#include "tuner/operation/gemm_operation.hpp"
#include "tuner/session/answer/neighbours.hpp"
#include "tuner/session/answer/session_notes.hpp"
#include "tuner/session/baseline_builds.hpp"
#include "tuner/session/confirm_stage.hpp"

namespace pgtune::session {
namespace {

/// Looks at the stop flag so often.
constexpr std::chrono::milliseconds kPoll{100};

/// By the device's compile workers, while nothing else is done.
Result<protocol::BuildDone> build_now(const SessionContext& context, protocol::BuildRequest request) {
  const protocol::RequestId id = request.id;
  context.device.submit_build(std::move(request));
  while (!context.stop) {
    TRY_ASSIGN(auto events, context.device.wait(kPoll));
    for (protocol::Event& event : events) {
      auto* const done = std::get_if<protocol::BuildDone>(&event);
      if (done != nullptr && done->id == id) return std::move(*done);
    }
  }
  return protocol::BuildDone{id, {OutcomeKind::kTimeout, "stopped before it was built"}, {}};
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

Result<BaselineReport> prepare_device(const SessionContext& context) {
  TRY_ASSIGN(auto problem, operation::with_operation(context.problem));
  protocol::PrepareRequest request{std::move(problem), context.options.conditions};
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

Result<void> prepare(SessionContext& context, SessionRun& run) {
  const double start_s = context.clock.now_s();
  auto baseline = prepare_device(context);
  run.answer.stages.prepare_s = context.clock.now_s() - start_s;
  if (!baseline) return fail(std::move(baseline.error()), "preparing " + context.problem.title());
  context.store.save_baseline(*baseline);
  context.problem = with_counts(std::move(context.problem), baseline->counts);
  if (const auto best = static_cast<std::size_t>(baseline->best); best < baseline->algorithms.size())
    run.progress.baseline(baseline->name(), baseline->algorithms[best].time_s);
  run.result.baseline = std::move(*baseline);
  run.others_at_start = context.device.other_processes();
  return {};
}

Result<void> run_stages(SessionRun& run, const std::vector<SessionStage>& stages) {
  for (const SessionStage& stage : stages) {
    if (run.ended() && !stage.even_when_ended) continue;
    auto done = stage.run(run);
    if (done) continue;
    return stage.doing.empty() ? done : fail(std::move(done.error()), stage.doing);
  }
  return {};
}

/// How the answer's winner was launched in the rounds that its figures come from, and whether the baseline was, too.
void say_how_launched(SessionRun& run) {
  const std::vector<RoundEntry>& field = is_confirmed(run) ? run.confirm.field : run.final.field;
  const RoundEntry* const winner = entry_of(field, run.answer.best().variant);
  if (winner == nullptr) return;
  run.answer.in_graphs = share_in_graphs(winner->samples) > 0.5;
  const auto baseline = std::find_if(field.begin(), field.end(), [&](const RoundEntry& entry) {
    const BaselineAlgorithm* const algorithm = algorithm_of(entry.contender);
    return algorithm != nullptr && algorithm->index == run.answer.compared_algorithm(run.result.baseline);
  });
  if (baseline != field.end()) run.evidence.add_notes(launch_notes(winner->samples, baseline->samples));
}

void finish(SessionRun& run) {
  const SessionContext& context = run.context;
  run.result.counts = run.state.counts();
  if (!run.answer.ranking.empty()) {
    run.evidence.add_notes(shared_gpu_notes(run.others_at_start, context.device.other_processes()));
    run.evidence.add_notes(neighbour_notes(context.device.clocks_beside()));
    say_how_launched(run);
    Answer& answer = run.answer;
    answer.baseline = run.result.baseline;
    answer.counts = run.result.counts;
    answer.complete = run.exhausted && !run.ended();
    answer.finished_at = context.clock.utc_iso8601();
    answer.board = context.device.info().uuid;
    answer.objective = context.options.objective;
    answer.voided_rounds = run.evidence.troubles().voided();
    answer.notes = run.evidence.notes(context.problem, answer.baseline, context.options.conditions);
    run.result.answer = std::move(answer);
  }
  context.store.finish(run.result.answer);
  run.progress.done();
  run.result.elapsed_s = context.elapsed_s();
}

}  // namespace

void SessionRun::take_end(RoundRunner::End end) {
  result.interrupted = end == RoundRunner::End::kStopped;
  result.gave_up = end == RoundRunner::End::kGaveUp;
}

void SessionRun::leave_out(const Variant& variant) {
  for (auto* const field : {&final.field, &confirm.field}) {
    if (const RoundEntry* const entry = entry_of(*field, variant))
      field->erase(field->begin() + (entry - field->data()));
  }
}

Result<SessionResult> run_session(SessionContext context, SearchState& state, const ProgressCallback& callback,
                                  const SessionPlan& plan) {
  ProgressReporter progress(context, callback);
  SessionRun run{context, state, progress};
  TRY(prepare(context, run));
  if (auto ran = run_stages(run, plan.stages); !ran) return fail(std::move(ran.error()), plan.doing);
  finish(run);
  return std::move(run.result);
}

}  // namespace pgtune::session
