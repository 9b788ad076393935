// SPDX-License-Identifier: MIT
#include "tuner/session/findings.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include "tuner/session/answer/session_notes.hpp"
#include "tuner/session/rounds/round_plan.hpp"

namespace pgtune::session {

void Findings::take(Preparation preparation) {
  answer.stages.prepare_s = preparation.time_s;
  result_.baseline = std::move(preparation.baseline);
  others_at_start_ = std::move(preparation.others);
}

void Findings::take(const SteadyRun& steady) {
  answer.stages.steady_s = steady.time_s;
  take_end(steady.end);
  if (steady.sampling == Sampling::kSettled) settle();
}

void Findings::settle() {
  answer.sampling = Sampling::kSettled;
  answer.floor = {};
  answer.floor.margin = kSettledMargin;
}

void Findings::take(const FloorResult& floor) {
  answer.floor = floor.floor;
  answer.stages.floor_s = floor.time_s;
  take_interrupt(floor.interrupted);
  if (floor.note) notes_.push_back(*floor.note);
  take_baseline_samples(floor.baseline_samples);
}

void Findings::take(const Screened& screened) {
  using End = Screened::End;
  answer.stages.screen_s = screened.time_s;
  exhausted_ = screened.end == End::kExhausted;
  result_.budget_reached = screened.end == End::kBudget;
  result_.interrupted = screened.end == End::kInterrupted;
  result_.enough = screened.end == End::kEnough;
  if (!screened.missed) return;
  if (screened.missed->of_all) answer.expected_missed = std::expm1(*screened.missed->of_all);
  answer.expected_missed_of_presets = std::expm1(screened.missed->of_presets);
}

void Findings::take(const RaceResult& race) {
  answer.raced = race.entrants;
  answer.stages.race_s += race.time_s;
  take_baseline_samples(race.baseline_samples);
  take_end(race.end);
}

void Findings::take_final_samples(const std::vector<RoundEntry>& field) {
  for (const RoundEntry& entry : field) {
    final_samples_.insert(final_samples_.end(), entry.samples.begin(), entry.samples.end());
    const BaselineAlgorithm* const algorithm = algorithm_of(entry.contender);
    // Floor and race have measured this one as well.
    if (algorithm != nullptr && algorithm->index == baseline().best) take_baseline_samples(entry.samples);
  }
}

void Findings::take_baseline_samples(const std::vector<Sample>& samples) {
  baseline_samples_.insert(baseline_samples_.end(), samples.begin(), samples.end());
}

void Findings::take_end(RoundRunner::End end) {
  result_.interrupted = end == RoundRunner::End::kStopped;
  result_.gave_up = end == RoundRunner::End::kGaveUp;
}

void Findings::add_notes(std::vector<std::string> notes) {
  std::move(notes.begin(), notes.end(), std::back_inserter(notes_));
}

void Findings::settle_after_all() {
  settle();
  baseline_samples_.clear();
  final_samples_.clear();
  notes_.emplace_back(
      "the final met the power cap, though the baseline alone had not: its rounds were made again in settled samples");
}

SessionResult Findings::finish(RoundContext& rounds, const std::vector<Sample>& winner,
                               const std::vector<Sample>& compared) && {
  const SessionContext& context = rounds.context;
  const Conditions& conditions = context.options.conditions;
  result_.counts = rounds.state.counts();
  if (!answer.ranking.empty()) {
    if (!winner.empty()) answer.in_graphs = share_in_graphs(winner) > 0.5;
    answer.baseline = result_.baseline;
    answer.counts = result_.counts;
    answer.complete = exhausted_ && !ended();
    answer.finished_at = context.clock.utc_iso8601();
    answer.board = context.device.info().uuid;
    answer.objective = context.options.objective;
    answer.voided_rounds = rounds.troubles.voided();
    answer.notes = std::move(notes_);
    for (auto&& more :
         {shared_gpu_notes(others_at_start_, context.device.other_processes()),
          neighbour_notes(context.device.clocks_beside()), launch_notes(winner, compared),
          baseline_notes(context.problem, answer.baseline), check_notes(context.problem), data_notes(conditions),
          clock_notes(conditions, baseline_samples_), power_notes(final_samples_), rounds.troubles.notes()}) {
      answer.notes.insert(answer.notes.end(), more.begin(), more.end());
    }
    result_.answer = std::move(answer);
  }
  context.store.finish(context.options.only_chooses ? std::nullopt : result_.answer);
  rounds.progress.done();
  result_.elapsed_s = context.elapsed_s();
  return std::move(result_);
}

}  // namespace pgtune::session
