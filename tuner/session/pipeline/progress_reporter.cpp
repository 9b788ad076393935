// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/progress_reporter.hpp"

#include <algorithm>

namespace pgtune::session {

ProgressReporter::ProgressReporter(const SessionContext& context, const ProgressCallback& callback)
    : context_(context), callback_(callback) {
  progress_.problem = context.problem;
  emit();
}

void ProgressReporter::settled(double expected_s) {
  progress_.settled_rounds_s = expected_s;
  emit();
}

void ProgressReporter::enter_search(const SearchState& state, std::size_t total) {
  progress_.phase = Progress::Phase::kSearch;
  progress_.total = static_cast<std::int64_t>(total);
  progress_.resumed = static_cast<std::int64_t>(state.resumed_count());
  take_counts(state);
  emit();
}

void ProgressReporter::search(const SearchState& state, std::optional<double> remaining_s) {
  if (!callback_ || context_.clock.now_s() - last_emit_s_ < 0.2) return;
  take_counts(state);
  progress_.remaining_s = remaining_s;
  emit();
}

void ProgressReporter::enter_rounds(Progress::Phase phase, int rounds, std::int64_t contenders,
                                    std::optional<double> remaining_s) {
  progress_.phase = phase;
  progress_.round = 0;
  progress_.rounds = rounds;
  progress_.contenders = contenders;
  progress_.remaining_s = remaining_s;
  emit();
}

void ProgressReporter::round(int round, int rounds, std::int64_t contenders, std::optional<double> remaining_s) {
  progress_.round = round;
  progress_.rounds = rounds;
  progress_.contenders = contenders;
  progress_.remaining_s = remaining_s;
  if (context_.clock.now_s() - last_emit_s_ >= 0.2) emit();
}

void ProgressReporter::done() {
  progress_.phase = Progress::Phase::kDone;
  progress_.remaining_s = 0;
  emit();
}

void ProgressReporter::take_counts(const SearchState& state) {
  progress_.done = static_cast<std::int64_t>(state.decided_count());
  progress_.total = std::max(progress_.total, progress_.done);
  progress_.failed = state.failed_count();
  progress_.cut = state.cut_count();
  progress_.best_s = state.best_s();
}

void ProgressReporter::emit() {
  last_emit_s_ = context_.clock.now_s();
  if (!callback_) return;
  progress_.elapsed_s = context_.elapsed_s();
  callback_(progress_);
}

}  // namespace pgtune::session
