// SPDX-License-Identifier: MIT
#include "tuner/stats/descriptive.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace pgtune::stats {

double quantile(std::span<const double> sample, double q) {
  if (sample.empty()) return 0;
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::span<const double> sample) { return quantile(sample, 0.5); }

double geometric_mean(std::span<const double> sample) {
  double logarithms = 0;
  for (const double value : sample) {
    if (!(value > 0)) return 0;
    logarithms += std::log(value);
  }
  return sample.empty() ? 0 : std::exp(logarithms / static_cast<double>(sample.size()));
}

double scaled_mad(std::span<const double> sample) {
  constexpr double kNormalConsistency = 1.4826;  // 1 / quantile 0.75 of the standard normal distribution
  const double centre = median(sample);
  std::vector<double> deviations;
  deviations.reserve(sample.size());
  for (const double value : sample) deviations.push_back(std::abs(value - centre));
  return kNormalConsistency * median(deviations);
}

double relative_spread(std::span<const double> sample) {
  const double centre = median(sample);
  return centre == 0 ? 0 : scaled_mad(sample) / centre;
}

}  // namespace pgtune::stats
