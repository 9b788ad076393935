// SPDX-License-Identifier: MIT
#include "tuner/search/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace pgtune::search {
namespace {

TEST(Matern52, KnownValues) {
  EXPECT_DOUBLE_EQ(matern52(0, 1), 1);
  EXPECT_NEAR(matern52(1, 1), (1 + std::sqrt(5.0) + 5.0 / 3) * std::exp(-std::sqrt(5.0)), 1e-15);
  EXPECT_DOUBLE_EQ(matern52(2, 4), matern52(0.5, 1));
}

TEST(ExpectedImprovement, KnownValues) {
  EXPECT_NEAR(expected_improvement(0, 0, 1), 0.3989422804, 1e-9);      // 1 / sqrt(2 pi)
  EXPECT_NEAR(expected_improvement(0, 1, 1), 0.0833154706, 1e-9);      // phi(1) - (1 - Phi(1))
  EXPECT_NEAR(expected_improvement(1, 0, 2), 2 * 0.6977965574, 1e-9);  // 2 (z Phi(z) + phi(z)) at z = 1/2
  EXPECT_EQ(expected_improvement(1, 0.25, 0), 0.75);
  EXPECT_EQ(expected_improvement(0, 1, 0), 0);
}

// Of one observation everything is known in closed form.
TEST(GaussianProcess, OfOnePoint) {
  const GaussianProcess process(std::vector{0.0}, std::vector{3.0}, {4, 1, 0.5});
  const double k = matern52(0.7, 1);
  const auto away = [](std::size_t) { return 0.7; };
  EXPECT_NEAR(process.mean(away), k * 3 / 1.5, 1e-12);
  EXPECT_NEAR(process.variance(away).value(), 4 * (1 - k * k / 1.5), 1e-12);
  EXPECT_NEAR(process.log_likelihood(), -0.5 * (9 / 6.0 + std::log(6.0) + std::log(2 * 3.14159265358979)), 1e-12);
  EXPECT_NEAR(process.likeliest_variance(), 6, 1e-12);
}

// Of two: the inverse of a symmetric matrix of two by two.
TEST(GaussianProcess, OfTwoPoints) {
  const double apart = matern52(1, 1), near = matern52(0.4, 1), far = matern52(0.6, 1), diagonal = 1.1;
  const GaussianProcess process(std::vector{0.0, 1.0, 1.0, 0.0}, std::vector{1.0, -2.0}, {1, 1, 0.1});
  const double determinant = diagonal * diagonal - apart * apart;
  const double first = (diagonal * 1 - apart * -2) / determinant, second = (diagonal * -2 - apart * 1) / determinant;
  const auto between = [](std::size_t i) { return i == 0 ? 0.4 : 0.6; };
  EXPECT_NEAR(process.mean(between), near * first + far * second, 1e-12);
  const double explained = (diagonal * near * near - 2 * apart * near * far + diagonal * far * far) / determinant;
  EXPECT_NEAR(process.variance(between).value(), 1 - explained, 1e-12);
  const double square = 1 * first + -2 * second;
  EXPECT_NEAR(process.log_likelihood(), -0.5 * (square + std::log(determinant)) - std::log(2 * 3.14159265358979),
              1e-12);
}

TEST(GaussianProcess, FarFromEverythingNothingIsKnown) {
  const GaussianProcess process(std::vector{0.0}, std::vector{3.0}, {4, 1, 0.1});
  const auto far = [](std::size_t) { return 100.0; };
  EXPECT_NEAR(process.mean(far), 0, 1e-9);
  EXPECT_NEAR(process.variance(far).value(), 4, 1e-9);
}

// Points on a line, the observed ones at 0, 1, 2 and so on.
TEST(GaussianProcess, AVarianceIsGivenUpAsSoonAsItsBoundIsNotWorthIt) {
  constexpr std::size_t kPoints = 40;
  std::vector<double> distances, values(kPoints, 1.0);
  for (std::size_t i = 0; i < kPoints; ++i) {
    for (std::size_t j = 0; j < kPoints; ++j)
      distances.push_back(std::abs(static_cast<double>(i) - static_cast<double>(j)));
  }
  const GaussianProcess process(distances, values, {2, 1, 0.1});
  std::size_t looked = 0;
  const auto distance = [&](std::size_t i) {
    looked = i;
    return std::abs(static_cast<double>(i) - 20.3);
  };
  const double variance = process.variance(distance).value();
  std::vector<double> bounds;
  EXPECT_EQ(process.variance(distance,
                             [&](double bound) {
                               bounds.push_back(bound);
                               return true;
                             }),
            variance);
  EXPECT_EQ(looked, kPoints - 1);
  EXPECT_TRUE(std::is_sorted(bounds.rbegin(), bounds.rend()));
  EXPECT_GE(bounds.back(), variance);
  EXPECT_EQ(process.variance(distance, [&](double bound) { return bound > 1.5; }), std::nullopt);
  EXPECT_LT(looked, kPoints - 1);
}

TEST(Candidates, AreSeenThroughTheLengthThatIsAskedForAndCovariancesAreKeptWhileItStays) {
  int looked = 0;
  Candidates candidates({10, 13}, [&](std::size_t a, std::size_t b) {
    ++looked;
    return std::abs(static_cast<double>(a) - static_cast<double>(b));
  });
  struct Case {
    std::vector<std::size_t> points;
    std::vector<double> weights;
    double length;
    int looked;  ///< at distances
  };
  for (const Case& c : {Case{{11}, {2}, 4, 2}, Case{{11, 15}, {2, -1}, 4, 2}, Case{{15}, {3}, 4, 0},
                        Case{{15}, {3}, 8, 2}, Case{{11, 15}, {1, 1}, 8, 2}}) {
    looked = 0;
    const auto [means, nearest] = candidates.seen(c.points, c.weights, c.length);
    EXPECT_EQ(looked, c.looked);
    for (std::size_t k = 0; k < 2; ++k) {
      double mean = 0, most = 0;
      for (std::size_t i = 0; i < c.points.size(); ++i) {
        const double apart = std::abs(static_cast<double>(candidates.indices()[k]) - static_cast<double>(c.points[i]));
        mean += c.weights[i] * matern52(apart, c.length);
        most = std::max(most, matern52(apart, c.length));
      }
      EXPECT_NEAR(means[k], mean, 1e-6) << k;
      EXPECT_NEAR(nearest[k], most, 1e-6) << k;
    }
  }
}

}  // namespace
}  // namespace pgtune::search
