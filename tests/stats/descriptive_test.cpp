// SPDX-License-Identifier: MIT
#include "tuner/stats/descriptive.hpp"

#include <gtest/gtest.h>

#include <array>

#include <vector>

namespace pgtune::stats {
namespace {

using Values = std::vector<double>;

TEST(Median, OddEvenUnsorted) {
  EXPECT_DOUBLE_EQ(median(Values{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median(Values{7}), 7);
  EXPECT_DOUBLE_EQ(median(Values{}), 0);
}

// R: quantile(c(1, 2, 3, 4, 10), c(0, .1, .25, .9, 1)), type 7.
TEST(Quantile, InterpolatesLinearly) {
  const Values sample{10, 3, 1, 4, 2};
  EXPECT_DOUBLE_EQ(quantile(sample, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.1), 1.4);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.25), 2);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.9), 7.6);
  EXPECT_DOUBLE_EQ(quantile(sample, 1), 10);
}

// R: mad(c(1, 1, 2, 2, 4, 6, 9)) is 1.4826.
TEST(GeometricMean, OfRatios) {
  const std::array ratios{0.5, 2.0, 8.0};
  EXPECT_DOUBLE_EQ(geometric_mean(ratios), 2);
  EXPECT_EQ(geometric_mean({}), 0);
  EXPECT_EQ(geometric_mean(std::array{1.0, 0.0}), 0);
}

TEST(ScaledMad, IgnoresOutliers) {
  EXPECT_DOUBLE_EQ(scaled_mad(Values{1, 1, 2, 2, 4, 6, 9}), 1.4826);
  EXPECT_DOUBLE_EQ(scaled_mad(Values{1, 1, 2, 2, 4, 6, 9e9}), 1.4826);
  EXPECT_DOUBLE_EQ(scaled_mad(Values{5, 5, 5}), 0);
}

TEST(RelativeSpread, IsUnitless) {
  EXPECT_DOUBLE_EQ(relative_spread(Values{1e-3, 1e-3, 2e-3, 2e-3, 4e-3, 6e-3, 9e-3}), 1.4826 / 2);
  EXPECT_DOUBLE_EQ(relative_spread(Values{}), 0);
}

}  // namespace
}  // namespace pgtune::stats
