// SPDX-License-Identifier: MIT
// Regression by a Gaussian process of mean 0: Matern 5/2 covariance, exact. Rasmussen and Williams, Gaussian Processes
// for Machine Learning, algorithm 2.1.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pgtune::search {

/// (1 + d + d^2 / 3) exp(-d) with d = sqrt(5) distance / length.
[[nodiscard]] double matern52(double distance, double length);

/// The expected improvement: the mean amount by which a normal value of this mean and deviation falls below `best`.
[[nodiscard]] double expected_improvement(double best, double mean, double deviation);

class GaussianProcess {
 public:
  struct Shape {
    double variance = 1, length = 1;
    double noise = 0.1;  ///< variance of the noise over `variance`
  };

  /// `distances`: of every two observed points, row by row. Precondition: shape.noise > 0.
  GaussianProcess(std::span<const double> distances, std::span<const double> values, const Shape& shape);

  /// Of a point, by the number of an observed one.
  using DistanceTo = std::function<double(std::size_t observed)>;
  /// The prediction's mean at a point.
  [[nodiscard]] double mean(const DistanceTo& distance) const;
  /// The prediction's variance at a point, without noise. Each observed point lowers an upper bound of it: nothing as
  /// soon as `is_worth` refuses that bound.
  [[nodiscard]] std::optional<double> variance(
      const DistanceTo& distance,
      const std::function<bool(double bound)>& is_worth = [](double) { return true; }) const;
  /// The weight of each observed point's matern52() in the mean of a prediction.
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  /// Natural logarithm of the values' likelihood under the shape.
  [[nodiscard]] double log_likelihood() const { return log_likelihood(shape_.variance); }
  /// The same with another variance.
  [[nodiscard]] double log_likelihood(double variance) const;
  /// The variance that makes the values most likely for the given length and noise.
  [[nodiscard]] double likeliest_variance() const { return likeliest_variance_; }

 private:
  Shape shape_;
  std::size_t count_;
  std::vector<double> factor_;   ///< of Cholesky, row by row, of the covariance over shape.variance
  std::vector<double> weights_;  ///< covariance^-1 values, likewise
  double log_determinant_ = 0;   ///< likewise
  double likeliest_variance_ = 0;
};

/// What may be proposed, seen from the observed points. Most points are those of the last ranking, and so are their
/// covariances while the length stays: these are kept.
class Candidates {
 public:
  using Distance = std::function<double(std::size_t, std::size_t)>;

  Candidates() = default;
  Candidates(std::vector<std::size_t> indices, Distance distance)
      : indices_(std::move(indices)), distance_(std::move(distance)) {}

  [[nodiscard]] const std::vector<std::size_t>& indices() const { return indices_; }

  struct Seen {
    std::vector<double> means;   ///< that a process predicts of each candidate
    std::vector<float> nearest;  ///< the greatest covariance with a point
  };
  /// `weights`: the process's, of each point.
  [[nodiscard]] Seen seen(std::span<const std::size_t> points, std::span<const double> weights, double length);

 private:
  std::vector<std::size_t> indices_;
  Distance distance_;
  std::map<std::size_t, std::vector<float>> covariances_;  ///< of a point with each candidate
  double length_ = 0;                                      ///< that they are of
};

}  // namespace pgtune::search
