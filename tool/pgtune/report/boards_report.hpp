// SPDX-License-Identifier: MIT
// `pgtune report --boards`: one row per problem, one column group per board.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

// Measurements of the same problems on several boards of one class.

/// One board's figures of one problem.
struct BoardCell {
  const StoredResult* result = nullptr;
  const session::RankedVariant* shown = nullptr;  ///< of its ranking
  bool same_variant = false;                      ///< `shown` is the row's variant, else the board's own best
};

/// One problem on the boards of its group.
struct BoardRow {
  const StoredResult* winner = nullptr;         ///< the newest search on any of them: its winner is the row's variant
  std::vector<std::optional<BoardCell>> cells;  ///< one for each board of the group
};

/// The ratio of a board's time to that of the group's first board, over the problems for which both have the row's
/// variant: 1.02 is 2 % longer.
struct BoardDifference {
  std::size_t board = 0;  ///< in the group
  std::size_t problems = 0;
  double median = 0, low = 0, high = 0;  ///< of the variants' times
  double baseline_median = 0;            ///< of cuBLASLt's best
};

/// Boards of one class under the same conditions.
struct BoardGroup {
  std::string device_class, conditions;  ///< for people
  std::vector<std::string> boards;       ///< UUIDs, those with more problems first
  std::vector<BoardRow> rows;            ///< in the order of the results
  std::vector<BoardDifference> differences;
};

/// `results`: of ResultFilter::load_boards(); the returned groups point into them.
[[nodiscard]] std::vector<BoardGroup> board_groups(const std::vector<StoredResult>& results);

// `results`: of ResultFilter::load_boards().

/// `database_option`: of the printed command.
void print_boards_report(Terminal& terminal, const std::vector<StoredResult>& results,
                         const std::string& database_option);
/// One object per problem, with "boards"; and "differences", one object for each board except its group's first.
[[nodiscard]] nlohmann::json boards_report_json(const std::vector<StoredResult>& results);
/// One line per problem; time_s, ratio_to_baseline and sm_clock_hz of every board.
[[nodiscard]] std::string boards_report_csv(const std::vector<StoredResult>& results);

}  // namespace pgtune::tool
