// SPDX-License-Identifier: MIT
// Comparison of two contenders measured in the same rounds.
#pragma once

#include <cstddef>
#include <span>

#include "tuner/stats/interval.hpp"

namespace pgtune::stats {

struct LogRatio {
  double mean = 0;    ///< of ln(numerator / denominator) over the pairs, see batch_mean_interval()
  Interval interval;  ///< of that mean
  std::size_t pairs = 0;
};

/// Pairs element i of both (as many as the shorter has), in the order of rounds; values must be positive. Taking the
/// ratio inside each round cancels what drifts from round to round, such as clocks. All 0 where there are no pairs.
[[nodiscard]] LogRatio paired_log_ratio(std::span<const double> numerators, std::span<const double> denominators,
                                        double confidence = 0.95);

}  // namespace pgtune::stats
