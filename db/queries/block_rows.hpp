// SPDX-License-Identifier: MIT
// The columns that blocks of trials and blocks of rounds share.
#pragma once

#include <string_view>

#include "db/queries/records.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {

/// What read_block() reads, of a blocks table joined with stages.
inline constexpr std::string_view kBlockColumns =
    "stages.name, round, position, launches, time_s, sm_clock_hz, graph, temperature_c, power_cap_s, thermal_s";

[[nodiscard]] BlockRow read_block(Statement& statement);

/// Writes one block. The statement's parameters are the owner's key columns, then stage, round, position, launches,
/// time_s, sm_clock_hz, graph, temperature_c, power_cap_s, thermal_s.
template <typename... OwnerKey>
void write_block(Statement& statement, RowId stage, const BlockRow& block, OwnerKey... owner) {
  statement
      .bind(owner..., stage, block.round, block.position, block.launches, block.time_s, block.sm_clock_hz, block.graph,
            block.temperature_c, block.power_cap_s, block.thermal_s)
      .run();
}

}  // namespace pgtune::db
