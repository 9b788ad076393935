// SPDX-License-Identifier: MIT
// Clocks that variants ran at in settled samples at the power cap: what their joules left them.
#pragma once

#include <span>
#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "tool/pgtune/learning/recorded_tables.hpp"
#include "tuner/search/predictor.hpp"

namespace pgtune::tool {

/// Variants that raced in settled samples of one search on a GPU.
struct SettledRace {
  Problem problem;
  DeviceInfo device;
  struct Entrant {
    Variant variant;
    double screened_s = 0, screened_cycles = 0;  ///< a launch, medians; 0 where its screening is not known
    double time_s = 0, clock_hz = 0;             ///< a launch of the settled sample, and the SM clock in it
  };
  std::vector<Entrant> entrants;  ///< those whose template is known, in this or another version
};

/// Of every search on a GPU among these sessions whose race had settled samples. Throws db::Error.
[[nodiscard]] std::vector<SettledRace> settled_races(const db::Database& database, const KnownTemplates& templates,
                                                     std::span<const db::SessionRow> sessions);

/// How far each entrant's clock stays below the highest of the race, as logarithm, for
/// session::expected_settled_times(). `number`: the race's among all. Throws CommandError.
[[nodiscard]] std::vector<search::Experience> clock_experiences(const SettledRace& race,
                                                                const KnownTemplates& templates, std::size_t number);

}  // namespace pgtune::tool
