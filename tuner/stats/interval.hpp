// SPDX-License-Identifier: MIT
// Confidence intervals of a median without assumptions about the distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pgtune::stats {

struct Interval {
  double low = 0, high = 0;
  double coverage =
      0;  ///< probability that the interval holds the median; below the wish where the sample is too small
  [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
};

/// Order statistics x(k)..x(n+1-k) with the largest k whose coverage, 1 - 2 P[Binomial(n, 1/2) < k], reaches
/// `confidence`. Where none does (95 %: n < 6) this is the sample's range, with the coverage it has. All 0 when empty.
[[nodiscard]] Interval sign_test_interval(std::span<const double> values, double confidence = 0.95);

/// Percentile bootstrap of the median; the same seed gives the same interval on every platform. All 0 when empty.
[[nodiscard]] Interval bootstrap_median_interval(std::span<const double> values, std::uint64_t seed,
                                                 double confidence = 0.95, int resamples = 5000);

/// From this size on the bootstrap's steps are fine enough to be preferred over the sign test.
inline constexpr std::size_t kBootstrapMinimum = 20;

/// The sign test below kBootstrapMinimum values, the bootstrap from there on.
[[nodiscard]] Interval median_interval(std::span<const double> values, std::uint64_t seed, double confidence = 0.95);

}  // namespace pgtune::stats
