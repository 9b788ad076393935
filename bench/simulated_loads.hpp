// SPDX-License-Identifier: MIT
// Contenders of simulated finals at the power cap.
#pragma once

#include <random>
#include <vector>

#include "tests/support/power_model.hpp"

namespace pgtune::bench {

/// `count` loads that differ by up to `times` in time (0.01: 1 %), evenly spread, and by up to 8 % in the clock they
/// settle at, as eight variants of docs/measurements/power-cap.md did. Named "0", "1" and so on.
[[nodiscard]] std::vector<support::PowerLoad> simulated_loads(int count, double times, const support::PowerGpu& gpu,
                                                              std::mt19937_64& random);

}  // namespace pgtune::bench
