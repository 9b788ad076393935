// SPDX-License-Identifier: MIT
#include "tuner/stats/importance.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace pgtune::stats {
namespace {

TEST(ExplainedVariance, IsOneWhereTheLabelDecides) {
  EXPECT_DOUBLE_EQ(explained_variance(std::vector{0, 0, 1, 1}, std::vector{1.0, 1.0, 3.0, 3.0}), 1);
}

TEST(ExplainedVariance, IsAdjustedForTheNumberOfGroups) {
  // Between the groups lie 4 of 5, of which chance would put 1 / 2 there.
  EXPECT_DOUBLE_EQ(explained_variance(std::vector{0, 0, 1, 1}, std::vector{0.0, 1.0, 2.0, 3.0}), 0.7);
}

TEST(ExplainedVariance, OfLargeValuesIsThatOfTheirDifferences) {
  constexpr double kLarge = 1e15;  // its square leaves no digit for them
  EXPECT_DOUBLE_EQ(explained_variance(std::vector{0, 0, 1, 1}, std::vector{kLarge, kLarge + 1, kLarge + 2, kLarge + 3}),
                   0.7);
}

TEST(ExplainedVariance, OfNoiseIsSmallHoweverManyGroups) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise;
  double mean = 0;
  constexpr int kTimes = 200;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<int> labels;
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) {
      labels.push_back(i % 10);
      values.push_back(noise(random));
    }
    mean += explained_variance(labels, values) / kTimes;
  }
  EXPECT_LT(mean, 0.08);  // 9 of 39 without the adjustment; what is left comes from cutting off below 0
}

TEST(ExplainedVariance, OfTooLittleIsNothing) {
  EXPECT_EQ(explained_variance(std::vector<int>{}, std::vector<double>{}), 0);
  EXPECT_EQ(explained_variance(std::vector{0, 0}, std::vector{1.0, 2.0}), 0);
  EXPECT_EQ(explained_variance(std::vector{0, 1}, std::vector{1.0, 2.0}), 0);
  EXPECT_EQ(explained_variance(std::vector{0, 0, 1, 1}, std::vector{2.0, 2.0, 2.0, 2.0}), 0);
}

}  // namespace
}  // namespace pgtune::stats
