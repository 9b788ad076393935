// SPDX-License-Identifier: MIT
// Intervals of a median that take values for independent and the number of them for planned: by these pgtune judged
// before its intervals were of batch means. Coverage is compared with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tuner/stats/interval.hpp"

namespace pgtune::bench {

using stats::Interval;

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

}  // namespace pgtune::bench
