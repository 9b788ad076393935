// SPDX-License-Identifier: MIT
// Robust summaries of a sample. Pure functions; samples need not be sorted.
#pragma once

#include <span>

namespace pgtune::stats {

/// The q-quantile (q from 0 to 1) with linear interpolation between order statistics; 0 for an empty sample.
[[nodiscard]] double quantile(std::span<const double> values, double q);

/// The middle value, or the mean of the two middle ones; 0 for an empty sample.
[[nodiscard]] double median(std::span<const double> values);

/// exp of the mean logarithm: the mean of ratios that does not depend on which side is the divisor. 0 for an empty
/// sample or where a value is not positive.
[[nodiscard]] double geometric_mean(std::span<const double> values);

/// Median absolute deviation from the median, times 1.4826: estimates the standard deviation of a normal sample and
/// ignores outliers. 0 for an empty sample.
[[nodiscard]] double scaled_mad(std::span<const double> values);

/// scaled_mad / median; 0 where the median is 0.
[[nodiscard]] double relative_spread(std::span<const double> values);

}  // namespace pgtune::stats
