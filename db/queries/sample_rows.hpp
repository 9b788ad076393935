// SPDX-License-Identifier: MIT
// The columns that samples of trials and samples of rounds share.
#pragma once

#include <string_view>

#include "db/queries/records.hpp"
#include "db/sqlite/statement.hpp"

namespace pgtune::db {

/// What read_sample() reads, of a samples table joined with stages.
inline constexpr std::string_view kSampleColumns =
    "stages.name, round, position, launches, time_s, sm_clock_hz, graph, temperature_c, power_cap_s, thermal_s";

[[nodiscard]] SampleRow read_sample(Statement& statement);

/// Writes one sample. The statement's parameters are the owner's key columns, then stage, round, position, launches,
/// time_s, sm_clock_hz, graph, temperature_c, power_cap_s, thermal_s.
template <typename... OwnerKey>
void write_sample(Statement& statement, RowId stage, const SampleRow& sample, OwnerKey... owner) {
  statement
      .bind(owner..., stage, sample.round, sample.position, sample.launches, sample.time_s, sample.sm_clock_hz,
            sample.graph, sample.temperature_c, sample.power_cap_s, sample.thermal_s)
      .run();
}

}  // namespace pgtune::db
