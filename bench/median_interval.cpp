// SPDX-License-Identifier: MIT
#include "bench/median_interval.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tuner/stats/descriptive.hpp"

namespace pgtune::bench {
namespace {

/// P[Binomial(n, 1/2) == i], through logarithms so that large n do not underflow.
double fair_binomial(std::size_t n, std::size_t i) {
  const auto count = static_cast<double>(n);
  const auto hits = static_cast<double>(i);
  return std::exp(std::lgamma(count + 1) - std::lgamma(hits + 1) - std::lgamma(count - hits + 1) -
                  count * std::log(2.0));
}

}  // namespace

Interval sign_test_interval(std::span<const double> values, double confidence) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  std::size_t k = 1;
  double coverage = std::max(0.0, 1 - 2 * fair_binomial(n, 0));
  while (k + 1 <= n / 2) {
    const double narrower = coverage - 2 * fair_binomial(n, k);
    if (narrower < confidence) break;
    coverage = narrower;
    ++k;
  }
  return {sorted[k - 1], sorted[n - k], coverage};
}

Interval bootstrap_median_interval(std::span<const double> values, std::uint64_t seed, double confidence,
                                   int resamples) {
  if (values.empty()) return {};
  std::mt19937_64 random(seed);  // its output is fixed by the standard; the distributions' is not, hence the remainder
  const std::size_t n = values.size();
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> drawn(n);  // how often each value was
  // The value of a resample's order statistic: sorting each one would take most of a final's evaluation.
  const auto order_statistic = [&](std::size_t rank) {
    std::size_t i = 0;
    std::size_t up_to = drawn[0];
    while (up_to <= rank) up_to += drawn[++i];
    return sorted[i];
  };
  std::vector<double> medians;
  medians.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    std::fill(drawn.begin(), drawn.end(), 0);
    for (std::size_t draw = 0; draw < n; ++draw) ++drawn[random() % n];
    medians.push_back((order_statistic((n - 1) / 2) + order_statistic(n / 2)) / 2);
  }
  const double tail = (1 - confidence) / 2;
  return {stats::quantile(medians, tail), stats::quantile(medians, 1 - tail), confidence};
}

Interval median_interval(std::span<const double> values, std::uint64_t seed, double confidence) {
  return values.size() < kBootstrapMinimum ? sign_test_interval(values, confidence)
                                           : bootstrap_median_interval(values, seed, confidence);
}

}  // namespace pgtune::bench
