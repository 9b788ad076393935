// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <utility>

#include "pipeline/search/pipeline_run.hpp"

namespace pgtune::session {
namespace {

/// Checks the winner again, after it was timed; whoever is wrong is out, and the next one is checked.
Result<void> check_winner(PipelineRun& run) {
  bool checked = run.stopped();
  while (run.best != nullptr && !checked) {
    auto again = run.device.trial({run.best->candidate, 0, 0});
    if (!again) return tl::unexpected<Error>(again.error());
    checked = again->outcome.kind == OutcomeKind::kOk;
    if (checked) break;
    run.answer.notes.push_back(
        fmt::format("{} failed when it was checked again: {}", run.best->candidate.text(), again->outcome.reason));
    run.tried.find(run.best->candidate)->result.outcome = again->outcome;
    run.store.save_trial(run.best->candidate, *again);
    run.best = run.tried.fastest();
  }
  return {};
}

}  // namespace

Result<void> conclude_pipelines(PipelineRun& run) {
  if (auto ok = check_winner(run); !ok) return ok;
  run.answer.complete = !run.stopped() && run.best != nullptr && run.answer.rounds >= run.options.rounds;
  run.answer.guess = run.tried.measured(run.guess);
  for (const pipeline::Rung& rung : run.rungs)
    run.answer.ladder.push_back({rung.name, rung.trap, run.tried.measured(rung.candidate)});
  if (run.best == nullptr) return {};
  run.answer.best = run.tried.measured(run.best->candidate);
  if (const MeasuredRung* const serial = run.answer.serial())
    run.answer.serial_to_best = run.tried.ratio(serial->measured.candidate, *run.best);
  run.answer.guess_to_best = run.tried.ratio(run.guess, *run.best);
  if (run.stopped()) return {};
  if (auto steps = run.device.steps(run.best->candidate)) {
    run.answer.steps = *steps;
  } else {
    run.answer.notes.push_back("its steps were not measured alone: " + steps.error().text());
  }
  if (auto timeline = run.device.trace(run.best->candidate)) {
    run.answer.timeline = std::move(*timeline);
  } else {
    run.answer.notes.push_back("there is no timeline: " + timeline.error().text());
  }
  return {};
}

}  // namespace pgtune::session
