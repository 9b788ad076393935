// SPDX-License-Identifier: MIT
// The share of a measurement's variance that a label explains. Pure functions.
#pragma once

#include <span>

namespace pgtune::stats {

/// Share, from 0 to 1, of the variance of `values` that lies between the groups of equal labels, adjusted for what
/// chance alone would put there (epsilon squared, T. L. Kelley 1935): a label that says nothing has 0 in the mean,
/// however many groups it makes. 0 where there is no variance, one group, or as many groups as values. Precondition:
/// as many labels as values.
[[nodiscard]] double explained_variance(std::span<const int> labels, std::span<const double> values);

}  // namespace pgtune::stats
