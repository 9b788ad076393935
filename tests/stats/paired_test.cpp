// SPDX-License-Identifier: MIT
#include "tuner/stats/paired.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pgtune::stats {
namespace {

TEST(PairedLogRatio, CancelsADriftCommonToBoth) {
  std::vector<double> slow, fast;
  for (int round = 0; round < 12; ++round) {
    const double drift = 1 + 0.2 * round;  // far larger than the difference
    fast.push_back(1e-3 * drift);
    slow.push_back(1.01e-3 * drift);
  }
  const LogRatio ratio = paired_log_ratio(slow, fast);
  EXPECT_EQ(ratio.pairs, 12U);
  EXPECT_NEAR(std::exp(ratio.mean), 1.01, 1e-9);
  EXPECT_GT(ratio.interval.low, 0);
  EXPECT_LT(ratio.interval.high - ratio.interval.low, 1e-9);
}

TEST(PairedLogRatio, EqualContendersContainZero) {
  const std::vector<double> a{1.0, 1.1, 0.9, 1.0, 1.05, 0.95};
  const std::vector<double> b{1.05, 1.0, 0.95, 0.95, 1.0, 1.0};
  EXPECT_TRUE(paired_log_ratio(a, b).interval.contains(0));
}

TEST(PairedLogRatio, IsAntisymmetric) {
  const std::vector<double> a{1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.2};
  const std::vector<double> b{2.0, 1.9, 2.1, 2.2, 1.8, 2.05, 2.0};
  const LogRatio forth = paired_log_ratio(a, b);
  const LogRatio back = paired_log_ratio(b, a);
  EXPECT_DOUBLE_EQ(forth.mean, -back.mean);
  EXPECT_DOUBLE_EQ(forth.interval.low, -back.interval.high);
}

TEST(PairedLogRatio, NoPairs) { EXPECT_EQ(paired_log_ratio({}, std::vector<double>{1.0}).pairs, 0U); }

}  // namespace
}  // namespace pgtune::stats
