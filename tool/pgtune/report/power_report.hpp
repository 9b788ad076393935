// SPDX-License-Identifier: MIT
// `pgtune report --power`: winner and cuBLASLt's best side by side in speed, power and energy, and what that proves.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// Results without energy get that of the newest bench of their winner which measured it. Throws db::Error, and
/// CommandError (database) for a bench that cannot be read.
void take_bench_energy(const db::Database& database, std::vector<StoredResult>& results);

/// Results whose energy was not measured are named with the command that does.
void print_power_report(Terminal& terminal, const std::vector<StoredResult>& results);
/// One object a result; "winner" and "baseline_best" are null where energy was not measured, and "measure" has the
/// command.
[[nodiscard]] nlohmann::json power_report_json(const std::vector<StoredResult>& results);
/// Two lines a result, told apart by "contender": winner and cublaslt_best. Results without energy are left out.
[[nodiscard]] std::string power_report_csv(const std::vector<StoredResult>& results);

}  // namespace pgtune::tool
