// SPDX-License-Identifier: MIT
#include "tuner/stats/descriptive.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace pgtune::stats {

double quantile(std::span<const double> values, double q) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double geometric_mean(std::span<const double> values) {
  double logarithms = 0;
  for (const double value : values) {
    if (!(value > 0)) return 0;
    logarithms += std::log(value);
  }
  return values.empty() ? 0 : std::exp(logarithms / static_cast<double>(values.size()));
}

double scaled_mad(std::span<const double> values) {
  constexpr double kNormalConsistency = 1.4826;  // 1 / quantile 0.75 of the standard normal distribution
  const double centre = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return kNormalConsistency * median(deviations);
}

double relative_spread(std::span<const double> values) {
  const double centre = median(values);
  return centre == 0 ? 0 : scaled_mad(values) / centre;
}

}  // namespace pgtune::stats
