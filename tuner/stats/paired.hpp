// SPDX-License-Identifier: MIT
// Comparison of two contenders measured in the same rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tuner/stats/interval.hpp"

namespace pgtune::stats {

struct LogRatio {
  double median = 0;  ///< of ln(numerator / denominator) over the pairs
  Interval interval;  ///< of that median
  std::size_t pairs = 0;
};

/// Pairs element i of both (as many as the shorter has); values must be positive. Taking the ratio inside each round
/// cancels what drifts from round to round, such as clocks. All 0 where there are no pairs.
[[nodiscard]] LogRatio paired_log_ratio(std::span<const double> numerators, std::span<const double> denominators,
                                        std::uint64_t seed, double confidence = 0.95);

}  // namespace pgtune::stats
