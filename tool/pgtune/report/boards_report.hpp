// SPDX-License-Identifier: MIT
// `pgtune report --boards`: a row a problem, a column group a board.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

// `results`: of ResultFilter::load_boards().

void print_boards_report(Terminal& terminal, const std::vector<StoredResult>& results);
/// One object a problem, with "boards"; and "differences", one object for each board but its group's first.
[[nodiscard]] nlohmann::json boards_report_json(const std::vector<StoredResult>& results);
/// A line a problem; time_s, ratio_to_baseline and sm_clock_hz of every board.
[[nodiscard]] std::string boards_report_csv(const std::vector<StoredResult>& results);

}  // namespace pgtune::tool
