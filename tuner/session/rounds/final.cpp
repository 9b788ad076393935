// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/final.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tuner/session/rounds/race_cut.hpp"
#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

bool lives(const RoundEntry& entry) { return entry.index && !entry.out; }

std::int64_t survivors(const std::vector<RoundEntry>& field) {
  return std::count_if(field.begin(), field.end(), lives);
}

double time_s(const RoundEntry& entry) { return stats::median(per_launch_times(entry.samples)); }

class Final {
 public:
  Final(RoundContext& rounds, const BaselineReport& baseline, const FinalPlan& plan, double margin)
      : rounds_(rounds), baseline_(baseline), plan_(plan), margin_(margin) {}

  [[nodiscard]] Result<FinalResult> run(const std::vector<std::size_t>& raced, const std::vector<int>& algorithms);

 private:
  [[nodiscard]] std::vector<std::size_t> pick(const std::vector<std::size_t>& raced) const;
  void add_baselines(std::vector<RoundEntry>& field, const std::vector<int>& algorithms) const;
  [[nodiscard]] Result<RoundRunner::End> run_rounds(RoundRunner& runner);
  [[nodiscard]] bool best_two_unclear(const std::vector<RoundEntry>& field) const;
  [[nodiscard]] Result<FinalResult> result(const RoundRunner& runner, RoundRunner::End end) const;

  RoundContext& rounds_;
  const BaselineReport& baseline_;
  const FinalPlan& plan_;
  double margin_;
  std::set<std::size_t> tried_;  ///< finalists of finals without a survivor
};

Result<FinalResult> Final::run(const std::vector<std::size_t>& raced, const std::vector<int>& algorithms) {
  while (true) {
    const auto picked = pick(raced);
    if (picked.empty()) return FinalResult{};
    rounds_.progress.take_counts(rounds_.state);
    const double launch_s = baseline_launch_s(baseline_);
    rounds_.progress.enter_rounds(Progress::Phase::kFinal, plan_.rounds, static_cast<std::int64_t>(picked.size()),
                                  expected_round_s(plan_.timing, picked.size() + 2, launch_s) * plan_.rounds +
                                      expected_confirm_s(plan_, launch_s));
    TRY_ASSIGN(auto field, variant_entries(rounds_, picked));
    if (!field) {
      FinalResult stopped;
      stopped.end = RoundRunner::End::kStopped;
      return stopped;
    }
    if (!field->empty()) {
      add_baselines(*field, algorithms);
      RoundRunner runner(rounds_, Stage::kFinal, plan_.timing, std::move(*field));
      TRY_ASSIGN(const auto end, run_rounds(runner));
      if (runner.rounds() > 0) rounds_.context.store.save_rounds(Stage::kFinal, contender_samples(runner.field()));
      if (survivors(runner.field()) > 0) return result(runner, end);
    }
    tried_.insert(picked.begin(), picked.end());
  }
}

std::vector<std::size_t> Final::pick(const std::vector<std::size_t>& raced) const {
  const auto ranked = rounds_.state.right();
  const std::set<std::size_t> right(ranked.begin(), ranked.end());
  std::set<std::size_t> seen = tried_;
  std::vector<std::size_t> picked;
  const auto take = [&](std::size_t index) {
    const bool room = picked.size() < static_cast<std::size_t>(plan_.finalists);
    if (room && right.count(index) > 0 && seen.insert(index).second) picked.push_back(index);
  };
  for (const std::size_t index : raced) take(index);
  for (const std::size_t index : rounds_.state.ranked()) take(index);
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
    rounds = affordable_rounds(rounds, done, spent_s, rounds_.context.time_left_s());
    rounds_.progress.round(done, rounds, left,
                           spent_s / done * (rounds - done) + expected_confirm_s(plan_, baseline_launch_s(baseline_)));
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

}  // namespace

int planned_final_looks(const FinalPlan& plan) {
  const int more = std::max(plan.max_rounds - plan.rounds, 0);
  return 1 + (more + kMoreFinalRounds - 1) / kMoreFinalRounds;
}

Result<FinalResult> run_final(RoundContext& rounds, const BaselineReport& baseline, const FinalPlan& plan,
                              double margin, const std::vector<std::size_t>& raced,
                              const std::vector<int>& algorithms) {
  return Final(rounds, baseline, plan, margin).run(raced, algorithms);
}

std::vector<RoundEntry> confirm_field(const std::vector<RoundEntry>& final, const Variant& chosen) {
  const RoundEntry* const winner = entry_of(final, chosen);
  const RoundEntry* fastest = nullptr;  // of the baseline's algorithms
  for (const RoundEntry& entry : final) {
    if (algorithm_of(entry.contender) == nullptr) continue;
    if (fastest == nullptr || time_s(entry) < time_s(*fastest)) fastest = &entry;
  }
  const RoundEntry* third = nullptr;
  double nearest = std::log1p(kConfirmReach);
  for (const RoundEntry& entry : final) {
    if (&entry == winner || &entry == fastest) continue;
    const RoundEntry& best = algorithm_of(entry.contender) != nullptr ? *fastest : *winner;
    const auto behind = log_time_ratio(entry.samples, best.samples);
    if (behind.pairs == 0 || behind.mean > nearest) continue;
    third = &entry;
    nearest = behind.mean;
  }
  std::vector<RoundEntry> out;
  for (const RoundEntry* const entry : {winner, fastest, third}) {
    if (entry == nullptr) continue;
    out.emplace_back(*entry).samples.clear();
  }
  return out;
}

Result<FinalResult> run_confirm(RoundContext& rounds, std::vector<RoundEntry> field, const SampleTiming& timing,
                                double launch_s) {
  const auto contenders = static_cast<std::int64_t>(field.size());
  const int planned = confirm_rounds(field.size());
  const double round_s = expected_round_s(timing, field.size(), launch_s);
  rounds.progress.enter_rounds(Progress::Phase::kConfirm, planned, contenders, planned * round_s);
  RoundRunner runner(rounds, Stage::kConfirm, timing, std::move(field));
  FinalResult out;
  while (runner.rounds() < planned && out.whole() && !runner.all_out()) {
    TRY_ASSIGN(const auto end, runner.run_round());
    out.end = end;
    rounds.progress.round(runner.rounds(), planned, contenders, (planned - runner.rounds()) * round_s);
  }
  if (runner.rounds() > 0) rounds.context.store.save_rounds(Stage::kConfirm, contender_samples(runner.field()));
  out.time_s = device_time_s(runner.field());
  for (const RoundEntry& entry : runner.field()) {
    if (!entry.samples.empty() && !entry.out) out.field.push_back(entry);
  }
  return out;
}

}  // namespace pgtune::session
