// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/final.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/session/pipeline/finalist_builds.hpp"
#include "tuner/session/rounds/race_cut.hpp"
#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/session/time_estimate.hpp"

namespace pgtune::session {
namespace {

bool lives(const RoundEntry& entry) { return entry.index && !entry.out; }

std::int64_t survivors(const std::vector<RoundEntry>& field) {
  return std::count_if(field.begin(), field.end(), lives);
}

}  // namespace

int planned_final_looks(const FinalPlan& plan) {
  const int more = std::max(plan.max_rounds - plan.rounds, 0);
  return 1 + (more + kMoreFinalRounds - 1) / kMoreFinalRounds;
}

Final::Final(const SessionContext& context, SearchState& state, const BaselineReport& baseline, const FinalPlan& plan,
             double margin, ProgressReporter& progress, RoundTroubles& troubles)
    : context_(context),
      state_(state),
      baseline_(baseline),
      plan_(plan),
      margin_(margin),
      progress_(progress),
      troubles_(troubles) {}

Result<FinalResult> Final::run(const std::vector<std::size_t>& raced, const std::vector<int>& algorithms) {
  while (true) {
    const auto picked = pick(raced);
    if (picked.empty()) return FinalResult{};
    progress_.take_counts(state_);
    progress_.enter_rounds(
        Progress::Phase::kFinal, plan_.rounds, static_cast<std::int64_t>(picked.size()),
        expected_round_s(plan_.timing, picked.size() + 2, baseline_launch_s(baseline_)) * plan_.rounds);
    TRY_ASSIGN(auto finalists, build_finalists(context_, state_, picked));
    if (!finalists) {
      FinalResult stopped;
      stopped.end = RoundRunner::End::kStopped;
      return stopped;
    }
    std::vector<RoundEntry> field = variant_entries(state_, std::move(*finalists));
    if (!field.empty()) {
      add_baselines(field, algorithms);
      RoundRunner runner(context_, Stage::kFinal, plan_.timing, std::move(field), troubles_,
                         [&](const RoundEntry& entry) {
                           if (entry.index) record_failure(context_, state_, *entry.index, entry.outcome);
                         });
      TRY_ASSIGN(const auto end, run_rounds(runner));
      if (runner.rounds() > 0) context_.store.save_rounds(Stage::kFinal, contender_samples(runner.field()));
      if (survivors(runner.field()) > 0) return result(runner, end);
    }
    tried_.insert(picked.begin(), picked.end());
  }
}

std::vector<std::size_t> Final::pick(const std::vector<std::size_t>& raced) const {
  const auto ranked = state_.right();
  const std::set<std::size_t> right(ranked.begin(), ranked.end());
  std::set<std::size_t> seen = tried_;
  std::vector<std::size_t> picked;
  const auto take = [&](std::size_t index) {
    const bool room = picked.size() < static_cast<std::size_t>(plan_.finalists);
    if (room && right.count(index) > 0 && seen.insert(index).second) picked.push_back(index);
  };
  for (const std::size_t index : raced) take(index);
  for (const std::size_t index : state_.ranked()) take(index);
  return picked;
}

void Final::add_baselines(std::vector<RoundEntry>& field, const std::vector<int>& algorithms) const {
  std::vector<int> chosen(algorithms.begin(), algorithms.begin() + std::min<std::ptrdiff_t>(2, std::ssize(algorithms)));
  if (std::find(chosen.begin(), chosen.end(), baseline_.first) == chosen.end()) chosen.push_back(baseline_.first);
  for (const int index : chosen) {
    if (static_cast<std::size_t>(index) < baseline_.algorithms.size()) field.push_back(baseline_entry(index));
  }
}

Result<RoundRunner::End> Final::run_rounds(RoundRunner& runner) {
  int rounds = plan_.rounds;
  while (runner.rounds() < rounds) {
    auto end = runner.run_round();
    if (!end || *end != RoundRunner::End::kRan) return end;
    const auto left = survivors(runner.field());
    if (left == 0) break;
    const int done = runner.rounds();
    if (done == rounds && best_two_unclear(runner.field())) {
      rounds = std::max(rounds, std::min(rounds + kMoreFinalRounds, plan_.max_rounds));
    }
    const double spent_s = runner.spent_s();
    rounds = affordable_rounds(rounds, done, spent_s, context_.time_left_s());
    progress_.round(done, rounds, left, spent_s / done * (rounds - done));
  }
  return RoundRunner::End::kRan;
}

bool Final::best_two_unclear(const std::vector<RoundEntry>& field) const {
  std::vector<const RoundEntry*> alive;
  std::vector<SampleTimes> times_s;
  for (const RoundEntry& entry : field) {
    if (!lives(entry)) continue;
    alive.push_back(&entry);
    times_s.push_back(per_launch_times(entry.samples));
  }
  if (alive.size() < 2) return false;
  const auto order = race_order(times_s);
  const double confidence = stats::look_confidence(planned_final_looks(plan_));
  const auto ratio = log_time_ratio(alive[order[1]]->samples, alive[order[0]]->samples, confidence);
  return !within(ratio.interval, std::log1p(margin_)) && ratio.interval.contains(0);
}

Result<FinalResult> Final::result(const RoundRunner& runner, RoundRunner::End end) const {
  const std::vector<RoundEntry>& field = runner.field();
  FinalResult out;
  out.end = end;
  out.time_s = device_time_s(field);
  bool has_baseline = false, measured_baseline = false;
  for (const RoundEntry& entry : field) {
    has_baseline = has_baseline || !entry.index;
    if (entry.samples.empty() || (entry.index && entry.out)) continue;
    measured_baseline = measured_baseline || !entry.index;
    out.field.push_back(entry);
  }
  const bool any_sample = !out.field.empty();
  if (has_baseline && !measured_baseline && any_sample) {
    return fail(ErrorKind::kEnvironment,
                "the baseline failed in every round of the final; the trials are kept, run the search again");
  }
  return out;
}

}  // namespace pgtune::session
