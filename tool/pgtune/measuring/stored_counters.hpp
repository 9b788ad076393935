// SPDX-License-Identifier: MIT
// Counters that a database holds, by contender.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/queries/records.hpp"
#include "tool/pgtune/measuring/counter_report.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tuner/session/answer/answer.hpp"

namespace pgtune::tool {

/// The first `count` of the ranking and the baseline's algorithm that their ratios are to, without counters.
[[nodiscard]] std::vector<ContenderCounters> compared_contenders(const session::Answer& answer,
                                                                 const BaselineReport& baseline, std::size_t count);

/// Those of the variant with this key and content of its template; null: none.
[[nodiscard]] const db::CountersRow* find_row(const std::vector<db::CountersRow>& rows, const std::string& content_hash,
                                              const std::string& variant_key);
/// Those of the baseline's algorithm with this title; null: none.
[[nodiscard]] const db::CountersRow* find_row(const std::vector<db::CountersRow>& rows,
                                              const std::string& algorithm_title);

/// What is stored under the key for these contenders; nothing unless everybody has counters.
[[nodiscard]] std::optional<CounterReport> stored_report(DatabaseStore& store, const session::StoreKey& key,
                                                         std::vector<ContenderCounters> contenders);

}  // namespace pgtune::tool
