// SPDX-License-Identifier: MIT
// `pgtune report --boards`: a row a problem, a column group a board.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

// What boards of one class measured of the same problems, put side by side.

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

/// How much longer a board takes than the group's first one, over the problems in which both have the row's
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

/// `results`: of ResultFilter::load_boards(); what is returned points into them.
[[nodiscard]] std::vector<BoardGroup> board_groups(const std::vector<StoredResult>& results);

// `results`: of ResultFilter::load_boards().

void print_boards_report(Terminal& terminal, const std::vector<StoredResult>& results);
/// One object a problem, with "boards"; and "differences", one object for each board but its group's first.
[[nodiscard]] nlohmann::json boards_report_json(const std::vector<StoredResult>& results);
/// A line a problem; time_s, ratio_to_baseline and sm_clock_hz of every board.
[[nodiscard]] std::string boards_report_csv(const std::vector<StoredResult>& results);

}  // namespace pgtune::tool
