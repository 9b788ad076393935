// SPDX-License-Identifier: MIT
#include "tuner/stats/interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace pgtune::stats {
namespace {

std::vector<double> one_to(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  std::reverse(values.begin(), values.end());
  return values;
}

struct Known {
  std::size_t n;
  double confidence, low, high, coverage;
};

class SignTest : public testing::TestWithParam<Known> {};

TEST_P(SignTest, PicksTheTabulatedOrderStatistics) {
  const Known known = GetParam();
  const Interval interval = sign_test_interval(one_to(known.n), known.confidence);
  EXPECT_DOUBLE_EQ(interval.low, known.low);
  EXPECT_DOUBLE_EQ(interval.high, known.high);
  EXPECT_NEAR(interval.coverage, known.coverage, 5e-5);
}

// Coverage: 1 - 2 * sum of binomial coefficients below the lower rank / 2^n.
INSTANTIATE_TEST_SUITE_P(Tabulated, SignTest,
                         testing::Values(Known{1, 0.95, 1, 1, 0}, Known{5, 0.95, 1, 5, 0.9375},
                                         Known{6, 0.95, 1, 6, 0.96875}, Known{8, 0.95, 1, 8, 0.9922},
                                         Known{9, 0.95, 2, 8, 0.9609}, Known{12, 0.95, 3, 10, 0.9614},
                                         Known{24, 0.95, 7, 18, 0.9773}, Known{24, 0.9929, 6, 19, 0.9934},
                                         Known{20, 0.95, 6, 15, 0.9586}, Known{100, 0.95, 40, 61, 0.9648}));

TEST(SignTestInterval, LargeSamplesDoNotUnderflow) {
  const Interval interval = sign_test_interval(one_to(5000));
  EXPECT_GE(interval.coverage, 0.95);
  EXPECT_LT(interval.coverage, 0.96);
  EXPECT_NEAR(interval.low, 2500 - 1.96 * 35.36, 3);  // normal approximation, sd = sqrt(n) / 2
}

TEST(SignTestInterval, EmptySampleHasNoCoverage) { EXPECT_EQ(sign_test_interval({}).coverage, 0); }

TEST(BootstrapInterval, SameSeedSameIntervalAndAroundTheMedian) {
  const auto sample = one_to(40);
  const Interval once = bootstrap_median_interval(sample, 7);
  const Interval again = bootstrap_median_interval(sample, 7);
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  EXPECT_TRUE(once.contains(20.5));
  // The sign test's interval for n = 40 is x(14) .. x(27); the bootstrap agrees within a rank or two.
  EXPECT_NEAR(once.low, 14, 2);
  EXPECT_NEAR(once.high, 27, 2);
}

TEST(BootstrapInterval, ConstantSampleHasNoWidth) {
  const Interval interval = bootstrap_median_interval(std::vector<double>(25, 3.0), 1);
  EXPECT_EQ(interval.low, 3);
  EXPECT_EQ(interval.high, 3);
}

TEST(MedianInterval, ChangesMethodAtTheMinimum) {
  EXPECT_EQ(median_interval(one_to(19), 1).low, sign_test_interval(one_to(19)).low);
  EXPECT_EQ(median_interval(one_to(20), 1).low, bootstrap_median_interval(one_to(20), 1).low);
  EXPECT_EQ(median_interval(one_to(20), 1).coverage, 0.95);
}

}  // namespace
}  // namespace pgtune::stats
