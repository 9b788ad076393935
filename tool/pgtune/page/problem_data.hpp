// SPDX-License-Identifier: MIT
// What the page shows of one problem: its row in tables and charts, and its section.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "db/queries/records.hpp"
#include "tool/pgtune/page/compact.hpp"
#include "tool/pgtune/report/roofline_report.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// Names of the columns of a finalist's row in "ranking".
[[nodiscard]] nlohmann::json ranking_columns();

/// One result in the table and the charts, with its finalists. Times in us, energies in mJ, clocks in MHz, intensities
/// in FLOP/byte; null for what was not measured. Long texts are numbers in `texts`.
[[nodiscard]] nlohmann::json problem_data(const StoredResult& result, const RooflinePoint& point, SharedTexts& texts);

/// "names" of the contenders, "rows" of a title and a cell for each, "why": texts for each.
[[nodiscard]] nlohmann::json counters_data(const CounterReport& report, SharedTexts& texts);

/// [[what, text], ...]: verdict and the rest that a reader needs to judge the numbers by, as `pgtune show` words it.
[[nodiscard]] nlohmann::json judgement_data(const StoredResult& result, SharedTexts& texts);

/// [[what, text], ...]: who measured it, on what, with what, and how it was asked for.
[[nodiscard]] nlohmann::json provenance_data(const StoredResult& result, const db::SessionRow& session,
                                             const db::Program& program, SharedTexts& texts);

}  // namespace pgtune::tool
