// SPDX-License-Identifier: MIT
#include "tuner/session/answer/answered.hpp"

#include <algorithm>
#include <utility>

#include "tuner/session/pipeline/quarantine.hpp"

namespace pgtune::session {
namespace {

/// A trial budget is met by a session with a final over at least that many variants.
bool tried_enough(const Answer& answer, const Budget& budget) {
  if (answer.complete) return true;
  if (!budget.trials || !answer.from_final) return false;
  std::int64_t tried = answer.counts.measured + answer.counts.not_recorded;
  for (const auto& [kind, count] : answer.counts.failed) tried += count;
  return tried >= std::min(*budget.trials, answer.counts.valid);
}

bool has_wanted_energy(const Answer& answer, const SessionOptions& options) {
  const bool wanted = options.measure_energy || options.objective != Objective::kTime;
  return !wanted || (!answer.ranking.empty() && answer.ranking.front().energy);
}

}  // namespace

std::optional<Answer> answered_already(Store& store, const StoreKey& key, const SessionOptions& options) {
  if (options.force || options.full) return std::nullopt;
  auto answer = store.answer(key);
  if (!answer || answer->objective != options.objective) return std::nullopt;
  if (options.retry_failed && has_fatal_trials(answer->counts)) return std::nullopt;
  if (!has_wanted_energy(*answer, options) || !tried_enough(*answer, options.budget)) return std::nullopt;
  return answer;
}

SearchResult result_from_store(Answer answer) {
  SearchResult result;
  result.counts = answer.counts;
  result.baseline = answer.baseline;
  result.answer = std::move(answer);
  result.from_store = true;
  return result;
}

}  // namespace pgtune::session
