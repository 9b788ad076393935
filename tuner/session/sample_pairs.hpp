// SPDX-License-Identifier: MIT
// From samples to the samples statistics work on. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "tuner/model/records.hpp"
#include "tuner/stats/paired.hpp"

namespace pgtune::session {

/// Seconds per launch of each sample, in their order.
[[nodiscard]] std::vector<double> per_launch_times(std::span<const Sample> samples);

/// Measured SM clocks; samples without one are left out.
[[nodiscard]] std::vector<double> clocks_hz(std::span<const Sample> samples);

/// ln(time per launch of `over` / that of `under`) in the rounds both have; no pairs where there are none.
[[nodiscard]] stats::LogRatio log_time_ratio(std::span<const Sample> over, std::span<const Sample> under,
                                             double confidence = 0.95);

/// The same of cycles: time per launch times clock, in the rounds in which both have a clock.
[[nodiscard]] stats::LogRatio log_cycles_ratio(std::span<const Sample> over, std::span<const Sample> under,
                                               double confidence = 0.95);

/// The same of energy: time per launch times power, in the rounds in which both have a power.
[[nodiscard]] stats::LogRatio log_energy_ratio(std::span<const Sample> over, std::span<const Sample> under,
                                               double confidence = 0.95);

/// The interval lies within +-bound: a tie, however exactly the difference is known.
[[nodiscard]] bool within(const stats::Interval& interval, double bound);

}  // namespace pgtune::session
