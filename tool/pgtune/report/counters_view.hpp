// SPDX-License-Identifier: MIT
// Hardware counters side by side, as people and scripts read them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tool/pgtune/measuring/counter_report.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// Counters that are stored of a result's winner and of what its ratio is to, under its conditions; nothing where there
/// are none of either. Throws db::Error.
[[nodiscard]] std::optional<CounterReport> counters_of(const db::Database& database, const StoredResult& result,
                                                       const std::optional<Ceilings>& ceilings);

/// What is shown of a report: numbers as people read them, "-" for what nobody knows.
struct CounterTable {
  std::vector<std::string> names;  ///< a column each: "#1", ..., and the baseline
  struct Row {
    std::string title;               ///< "DRAM read, MB"
    std::vector<std::string> cells;  ///< as many as names
  };
  std::vector<Row> rows;                      ///< what somebody has a number for
  std::vector<std::vector<std::string>> why;  ///< of each contender: its kernels, then reasons; or why it has nothing
};
[[nodiscard]] CounterTable counter_table(const CounterReport& report);

/// What the rules of counter_reasons.hpp say of the winner; empty where it has no counters.
[[nodiscard]] std::vector<std::string> counter_reasons(const CounterReport& report);

/// A table with a column for each contender ("#1", ..., "cuBLASLt"), and for each a line why it is as fast as it is; or
/// why there are no counters. At most 80 columns, each line ends in a newline.
[[nodiscard]] std::string counters_text(const CounterReport& report);

/// "missing", and a row of "contenders" each: "template" and "variant" or "algorithm", "counters" in SI units and
/// fractions (null with "missing"), "measured_at", "why".
[[nodiscard]] nlohmann::json counters_json(const CounterReport& report);

}  // namespace pgtune::tool
