// SPDX-License-Identifier: MIT
// What the page shows of a final over time: the samples of the winner, its runner-up and cuBLASLt, with clock,
// temperature and power.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "db/queries/records.hpp"
#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

/// [{"name", "stage", "positions", "place": [...], "us": [...], "mhz": [...], "c": [...], "w": [...]}, ...], one a
/// contender and stage (final, confirm). "place" counts a stage's samples in the order in which they were taken, from
/// 0, and a round has "positions" of them. Of more rounds than `round_limit` every second, third, ... is told. "mhz",
/// "c" and "w" are left out where no sample has them.
[[nodiscard]] nlohmann::json sample_data(const StoredResult& result, const std::vector<db::ContenderSamplesRow>& rounds,
                                         int round_limit);

}  // namespace pgtune::tool
