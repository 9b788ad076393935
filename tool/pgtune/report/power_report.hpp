// SPDX-License-Identifier: MIT
// `pgtune report --power`: compares winner and cuBLASLt's best in speed, power and energy.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// Results without energy get that of the newest other search or bench which measured it of their winner. Throws
/// db::Error, and CommandError (database) for an answer that cannot be read.
void take_energy_of_others(const db::Database& database, std::vector<StoredResult>& results);

/// Results without measured energy are listed with the command that measures it.
/// `database_option`: of the printed command.
void print_power_report(Terminal& terminal, const std::vector<StoredResult>& results,
                        const std::string& database_option);
/// One object per result; "winner" and "baseline_best" are null if energy was not measured, and "measure" has the
/// command.
[[nodiscard]] nlohmann::json power_report_json(const std::vector<StoredResult>& results);
/// Two lines per result, distinguished by "contender": winner and cublaslt_best. Results without energy are left out.
[[nodiscard]] std::string power_report_csv(const std::vector<StoredResult>& results);

}  // namespace pgtune::tool
