// SPDX-License-Identifier: MIT
#include "tuner/stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "tuner/stats/descriptive.hpp"

namespace pgtune::stats {
namespace {

constexpr double kFarRanges = 3;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> without_outliers(std::span<const double> values) {
  std::vector<double> out(values.begin(), values.end());
  const double low = quantile(values, 0.25), high = quantile(values, 0.75);
  const double far = kFarRanges * (high - low);
  if (far <= 0) return out;
  for (double& value : out) value = std::clamp(value, low - far, high + far);
  return out;
}

std::vector<double> batch_means(std::span<const double> values) {
  const std::size_t pairs = values.size() / 2;
  if (pairs < kLeastValues) return {values.begin(), values.end()};
  const std::size_t batches = std::min(pairs, kMostBatches);
  std::vector<double> out;
  for (std::size_t i = 0; i < batches; ++i) {
    const std::size_t begin = 2 * (i * pairs / batches);
    const std::size_t end = i + 1 == batches ? values.size() : 2 * ((i + 1) * pairs / batches);
    out.push_back(mean(values.subspan(begin, end - begin)));
  }
  return out;
}

/// P[|T| < sqrt(degrees) tan(theta)].
double t_probability(double theta, int degrees) {
  const double cosine2 = std::cos(theta) * std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(theta) : 1;
  double sum = 0;
  for (int i = odd ? 1 : 0; i <= degrees - 2; i += 2) {
    sum += term;
    term *= cosine2 * (i + 1) / (i + 2);
  }
  return odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
}

}  // namespace

MeanInterval batch_mean_interval(std::span<const double> values, double confidence) {
  if (values.empty()) return {};
  if (values.size() < kLeastValues) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {mean(values), {*low, *high, 0}};
  }
  const std::vector<double> calm = without_outliers(values);
  const double centre = mean(calm);
  const std::vector<double> batches = batch_means(calm);
  const double count = static_cast<double>(batches.size());
  const double mean_of_batches = mean(batches);
  double squares = 0;
  for (const double batch : batches) squares += (batch - mean_of_batches) * (batch - mean_of_batches);
  const double half =
      student_t(confidence, static_cast<int>(batches.size()) - 1) * std::sqrt(squares / (count - 1) / count);
  return {centre, {centre - half, centre + half, confidence}};
}

double look_confidence(int looks, double confidence) { return 1 - (1 - confidence) / std::max(looks, 1); }

double student_t(double confidence, int degrees) {
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {  // until the bits of a double are used up
    const double middle = (low + high) / 2;
    (t_probability(middle, degrees) < confidence ? low : high) = middle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan((low + high) / 2);
}

namespace {

/// Keeps 1.038 from becoming 1.037 where binary fractions fall just short of it.
constexpr double kOfALast = 1e-6;

}  // namespace

double rounded_down(double low, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::floor(low * scale + kOfALast) / scale;
}

double rounded_up(double high, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::ceil(high * scale - kOfALast) / scale;
}

}  // namespace pgtune::stats
