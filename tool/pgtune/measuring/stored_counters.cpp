// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/stored_counters.hpp"

#include <algorithm>
#include <utility>

#include "tuner/template/template_definition.hpp"

namespace pgtune::tool {
namespace {

template <typename IsMeant>
const db::CountersRow* first_row(const std::vector<db::CountersRow>& rows, const IsMeant& is_meant) {
  const auto found = std::find_if(rows.begin(), rows.end(), is_meant);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

std::vector<ContenderCounters> compared_contenders(const session::Answer& answer, const BaselineReport& baseline,
                                                   std::size_t count) {
  std::vector<ContenderCounters> contenders;
  for (std::size_t i = 0; i < std::min(count, answer.ranking.size()); ++i)
    contenders.push_back({.variant = answer.ranking[i].variant, .time_s = answer.ranking[i].time_s});
  contenders.push_back(
      {.algorithm = baseline.title(answer.compared_algorithm(baseline)), .time_s = answer.baseline_best_s});
  return contenders;
}

const db::CountersRow* find_row(const std::vector<db::CountersRow>& rows, const std::string& content_hash,
                                const std::string& variant_key) {
  return first_row(rows, [&](const db::CountersRow& row) {
    const auto* const variant = std::get_if<db::VariantRow>(&row.contender);
    return variant != nullptr && variant->key == variant_key && variant->origin.content_hash == content_hash;
  });
}

const db::CountersRow* find_row(const std::vector<db::CountersRow>& rows, const std::string& algorithm_title) {
  return first_row(rows, [&](const db::CountersRow& row) {
    const auto* const algorithm = std::get_if<std::string>(&row.contender);
    return algorithm != nullptr && *algorithm == algorithm_title;
  });
}

std::optional<CounterReport> stored_report(DatabaseStore& store, const session::StoreKey& key,
                                           std::vector<ContenderCounters> contenders) {
  const std::vector<db::CountersRow> rows = store.counters(key);
  for (ContenderCounters& contender : contenders) {
    const auto& variant = contender.variant;
    const db::CountersRow* const row = variant ? find_row(rows, key.templates.of(*variant).content_hash, variant->key())
                                               : find_row(rows, contender.algorithm);
    if (row == nullptr) return std::nullopt;
    contender.counters = row->counters;
    contender.measured_at = row->measured_at;
  }
  std::string baseline = baseline_of(contenders);
  return CounterReport{
      .contenders = std::move(contenders), .baseline = std::move(baseline), .ceilings = store.ceilings(key.device)};
}

}  // namespace pgtune::tool
