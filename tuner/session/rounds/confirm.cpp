// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/confirm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/session/pipeline/finalist_builds.hpp"
#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/session/time_estimate.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

double time_s(const RoundEntry& entry) { return stats::median(per_launch_times(entry.samples)); }

}  // namespace

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

Result<ConfirmResult> run_confirm(const SessionContext& context, SearchState& state, std::vector<RoundEntry> field,
                                  const SampleTiming& timing, double launch_s, ProgressReporter& progress,
                                  RoundTroubles& troubles) {
  const auto contenders = static_cast<std::int64_t>(field.size());
  const int rounds = confirm_rounds(field.size());
  const double round_s = expected_round_s(timing, field.size(), launch_s);
  progress.enter_rounds(Progress::Phase::kConfirm, rounds, contenders, rounds * round_s);
  RoundRunner runner(context, Stage::kConfirm, timing, std::move(field), troubles, [&](const RoundEntry& entry) {
    if (entry.index) record_failure(context, state, *entry.index, entry.outcome);
  });
  ConfirmResult out;
  while (runner.rounds() < rounds && out.end == RoundRunner::End::kRan && !runner.all_out()) {
    TRY_ASSIGN(const auto end, runner.run_round());
    out.end = end;
    progress.round(runner.rounds(), rounds, contenders, (rounds - runner.rounds()) * round_s);
  }
  if (runner.rounds() > 0) context.store.save_rounds(Stage::kConfirm, contender_samples(runner.field()));
  out.time_s = device_time_s(runner.field());
  for (const RoundEntry& entry : runner.field()) {
    if (!entry.samples.empty() && !entry.out) out.field.push_back(entry);
  }
  return out;
}

}  // namespace pgtune::session
