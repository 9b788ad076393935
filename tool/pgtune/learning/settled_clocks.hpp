// SPDX-License-Identifier: MIT
// Clocks of variants in settled samples at the power cap, where their energy limits the clock.
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
    double screened_s = 0, screened_cycles = 0;  ///< per launch, medians; 0 if its screening is unknown
    double time_s = 0, clock_hz = 0;             ///< a launch of the settled sample, and the SM clock in it
  };
  std::vector<Entrant> entrants;  ///< those whose template is known, in this or another version
};

/// One for every search on a GPU among these sessions with settled samples in its race. Throws db::Error.
[[nodiscard]] std::vector<SettledRace> settled_races(const db::Database& database, const KnownTemplates& templates,
                                                     std::span<const db::SessionRow> sessions);

/// The logarithm of the race's highest clock over each entrant's, for session::expected_settled_times(). `number`: the
/// race's among all. Throws CommandError.
[[nodiscard]] std::vector<search::Experience> clock_experiences(const SettledRace& race,
                                                                const KnownTemplates& templates, std::size_t number);

}  // namespace pgtune::tool
