// SPDX-License-Identifier: MIT
#include "tuner/session/answer/answered.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/search/expected_missed.hpp"
#include "tuner/session/pipeline/quarantine.hpp"

namespace pgtune::session {
namespace {

std::int64_t tried(const Answer& answer) {
  std::int64_t out = answer.counts.measured;
  for (const auto& [kind, count] : answer.counts.failed) out += count;
  return out;
}

/// A trial budget is met by a session with a final over at least that many variants, one that ends when it expects to
/// have missed little by one that expected so.
bool tried_enough(const Answer& answer, const SessionOptions& options) {
  if (answer.complete) return true;
  if (!answer.from_final) return false;
  const Budget& budget = options.budget;
  if (budget.acceptable_miss && has_enough(answer, *budget.acceptable_miss)) return true;
  return budget.trials && tried(answer) >= std::min(*budget.trials, answer.counts.valid);
}

bool has_wanted_energy(const Answer& answer, const SessionOptions& options) {
  const bool wanted = options.measure_energy || options.objective != Objective::kTime;
  return !wanted || (!answer.ranking.empty() && answer.ranking.front().energy);
}

bool will_do(const Answer& answer, const SessionOptions& options) {
  if (answer.objective != options.objective) return false;
  if (options.retry_failed && has_fatal_trials(answer.counts)) return false;
  return has_wanted_energy(answer, options) && tried_enough(answer, options);
}

}  // namespace

bool has_enough(const Answer& answer, double acceptable_miss) {
  const auto& of_presets = answer.expected_missed_of_presets;
  return answer.from_final && of_presets &&
         search::is_enough(search::ExpectedMiss{{}, std::log1p(*of_presets)},
                           std::max(answer.floor.margin, acceptable_miss), static_cast<std::size_t>(tried(answer)));
}

std::optional<Answer> answered_already(Store& store, const StoreKey& key, const SessionOptions& options) {
  if (options.force) return std::nullopt;
  return own_first(options.this_board, [&](Boards boards) {
    auto answer = store.answer(key, boards);
    return answer && will_do(*answer, options) ? answer : std::nullopt;
  });
}

std::optional<Answer> stored_answer(Store& store, const StoreKey& key, bool this_board) {
  return own_first(this_board, [&](Boards boards) { return store.answer(key, boards); });
}

bool is_begun(Store& store, const StoreKey& key, const SessionOptions& options) {
  return !options.force && !answered_already(store, key, options) && !store.trials(key).empty();
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
