// SPDX-License-Identifier: MIT
#include "tuner/search/gaussian_process.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace pgtune::search {

namespace {

/// Sum of products in four independent parts: a single sum would wait for the latency of each addition.
double dot(const double* a, const double* b, std::size_t count) {
  std::array<double, 4> parts{};
  std::size_t i = 0;
  for (; i + parts.size() <= count; i += parts.size()) {
    for (std::size_t k = 0; k < parts.size(); ++k) parts[k] += a[i + k] * b[i + k];
  }
  double sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double matern52(double distance, double length) {
  const double d = std::sqrt(5.0) * distance / length;
  return (1 + d + d * d / 3) * std::exp(-d);
}

double expected_improvement(double best, double mean, double deviation) {
  if (deviation <= 0) return std::max(0.0, best - mean);
  const double z = (best - mean) / deviation;
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return deviation * (z * below + density);
}

GaussianProcess::GaussianProcess(std::span<const double> distances, std::span<const double> values, const Shape& shape)
    : shape_(shape), count_(values.size()), factor_(count_ * count_), weights_(values.begin(), values.end()) {
  const auto at = [&](std::size_t row, std::size_t column) -> double& { return factor_[row * count_ + column]; };
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double covariance = matern52(distances[i * count_ + j], shape.length) + (i == j ? shape.noise : 0);
      const double sum = covariance - dot(&at(i, 0), &at(j, 0), j);
      at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
    }
    log_determinant_ += 2 * std::log(at(i, i));
  }
  double square = 0;  // values^T covariance^-1 values
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t k = 0; k < i; ++k) weights_[i] -= at(i, k) * weights_[k];
    weights_[i] /= at(i, i);
    square += weights_[i] * weights_[i];
  }
  for (std::size_t i = count_; i-- > 0;) {
    for (std::size_t k = i + 1; k < count_; ++k) weights_[i] -= at(k, i) * weights_[k];
    weights_[i] /= at(i, i);
  }
  likeliest_variance_ = count_ > 0 ? square / static_cast<double>(count_) : 0;
}

double GaussianProcess::log_likelihood(double variance) const {
  const auto n = static_cast<double>(count_);
  return -0.5 * (n * likeliest_variance_ / variance + log_determinant_ + n * std::log(2 * std::numbers::pi * variance));
}

double GaussianProcess::mean(const DistanceTo& distance) const {
  double mean = 0;
  for (std::size_t i = 0; i < count_; ++i) mean += matern52(distance(i), shape_.length) * weights_[i];
  return mean;
}

std::optional<double> GaussianProcess::variance(const DistanceTo& distance,
                                                const std::function<bool(double bound)>& is_worth) const {
  constexpr std::size_t kLooks = 8;  // points between two looks at the bound
  std::vector<double> shares(count_);
  double explained = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (i > 0 && i % kLooks == 0 && !is_worth(shape_.variance * std::max(0.0, 1 - explained))) return std::nullopt;
    const double covariance = matern52(distance(i), shape_.length);
    shares[i] = (covariance - dot(factor_.data() + i * count_, shares.data(), i)) / factor_[i * count_ + i];
    explained += shares[i] * shares[i];
  }
  return shape_.variance * std::max(0.0, 1 - explained);
}

Candidates::Seen Candidates::seen(std::span<const std::size_t> points, std::span<const double> weights, double length) {
  if (length != length_) covariances_.clear();
  length_ = length;
  Seen out{std::vector<double>(indices_.size()), std::vector<float>(indices_.size())};
  std::map<std::size_t, std::vector<float>> known;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<float>& own = known[points[i]];
    own = std::move(covariances_[points[i]]);
    if (own.empty()) {
      for (const std::size_t index : indices_)
        own.push_back(static_cast<float>(matern52(distance_(index, points[i]), length)));
    }
    for (std::size_t k = 0; k < own.size(); ++k) {
      out.means[k] += weights[i] * own[k];
      out.nearest[k] = std::max(out.nearest[k], own[k]);
    }
  }
  covariances_ = std::move(known);
  return out;
}

}  // namespace pgtune::search
