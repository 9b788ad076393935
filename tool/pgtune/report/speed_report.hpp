// SPDX-License-Identifier: MIT
// `pgtune report`: one line a problem, the winner's speed beside cuBLASLt's.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

void print_speed_report(Terminal& terminal, const std::vector<StoredResult>& results);
[[nodiscard]] nlohmann::json speed_report_json(const std::vector<StoredResult>& results);
[[nodiscard]] std::string speed_report_csv(const std::vector<StoredResult>& results);

}  // namespace pgtune::tool
