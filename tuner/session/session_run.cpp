// SPDX-License-Identifier: MIT
#include "tuner/session/session_run.hpp"

#include <cstddef>
#include <utility>

#include "tuner/session/answer/neighbours.hpp"
#include "tuner/session/answer/session_notes.hpp"

namespace pgtune::session {
namespace {

Result<void> prepare(SessionRun& run) {
  const SessionContext& context = run.context;
  auto baseline = context.device.prepare({context.problem, context.options.conditions});
  if (!baseline) return fail(std::move(baseline.error()), "preparing " + context.problem.title());
  context.store.save_baseline(*baseline);
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

void finish(SessionRun& run) {
  const SessionContext& context = run.context;
  run.result.counts = run.state.counts();
  if (!run.answer.ranking.empty()) {
    run.evidence.add_notes(shared_gpu_notes(run.others_at_start, context.device.other_processes()));
    run.evidence.add_notes(neighbour_notes(context.device.clocks_beside()));
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

Result<SessionResult> run_session(const SessionContext& context, SearchState& state, const ProgressCallback& callback,
                                  const SessionPlan& plan) {
  ProgressReporter progress(context, callback);
  SessionRun run{context, state, progress};
  if (auto prepared = prepare(run); !prepared) return tl::unexpected(std::move(prepared.error()));
  if (auto ran = run_stages(run, plan.stages); !ran) return fail(std::move(ran.error()), plan.doing);
  if (plan.answers)
    finish(run);
  else
    progress.done();
  return std::move(run.result);
}

}  // namespace pgtune::session
