// SPDX-License-Identifier: MIT
#include "tuner/stats/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pgtune::stats {
namespace {

constexpr double kMargin = 0.003;

/// ln ratios from ratios.
LogRatio ratio(double low, double median, double high) {
  return {std::log(median), {std::log(low), std::log(high), 0.95}, 24};
}

TEST(Verdict, FasterNeedsTimeAndCycles) {
  EXPECT_EQ(verdict(ratio(1.05, 1.06, 1.07), ratio(1.04, 1.05, 1.06), kMargin), Verdict::kFaster);
  EXPECT_EQ(verdict(ratio(1.001, 1.01, 1.02), ratio(1.001, 1.01, 1.02), kMargin), Verdict::kFaster);
}

TEST(Verdict, FasterInTimeOnlyIsThroughPower) {
  EXPECT_EQ(verdict(ratio(1.05, 1.06, 1.07), ratio(0.99, 1.00, 1.01), kMargin), Verdict::kFasterThroughPower);
  EXPECT_EQ(verdict(ratio(1.05, 1.06, 1.07), ratio(0.95, 0.96, 0.97), kMargin), Verdict::kFasterThroughPower);
  EXPECT_EQ(verdict(ratio(1.05, 1.06, 1.07), ratio(0.999, 1.02, 1.04), kMargin), Verdict::kFasterThroughPower)
      << "the interval decides, not its middle";
  EXPECT_EQ(verdict(ratio(1.05, 1.06, 1.07), ratio(1, 1.02, 1.04), kMargin), Verdict::kFasterThroughPower);
}

TEST(Verdict, WithoutClocksTimeDecides) { EXPECT_EQ(verdict(ratio(1.05, 1.06, 1.07), {}, kMargin), Verdict::kFaster); }

TEST(Verdict, SlowerWhereTheWholeIntervalIsBelowOne) {
  EXPECT_EQ(verdict(ratio(0.93, 0.94, 0.95), ratio(1.05, 1.06, 1.07), kMargin), Verdict::kSlower);
}

TEST(Verdict, ATieWhereTheIntervalLiesWithinTheMargin) {
  EXPECT_EQ(verdict(ratio(0.998, 1.0, 1.002), ratio(0.998, 1.0, 1.002), kMargin), Verdict::kTie);
  EXPECT_EQ(verdict(ratio(1.001, 1.002, 1.003), {}, kMargin), Verdict::kTie) << "however exactly it is known";
  EXPECT_EQ(verdict(ratio(1 / 1.003, 0.998, 0.999), {}, kMargin), Verdict::kTie);
  EXPECT_EQ(verdict(ratio(1.001, 1.002, 1.0031), {}, kMargin), Verdict::kFaster);
  EXPECT_EQ(verdict(ratio(1.001, 1.002, 1.0031), {}, 0.01), Verdict::kTie);
}

TEST(Verdict, UnclearWhereTheIntervalHoldsBothSides) {
  EXPECT_EQ(verdict(ratio(0.99, 1.02, 1.05), ratio(0.99, 1.02, 1.05), kMargin), Verdict::kUnclear);
  EXPECT_EQ(verdict(ratio(1, 1.02, 1.05), {}, kMargin), Verdict::kUnclear) << "nor on one side alone";
  EXPECT_EQ(verdict(ratio(0.95, 0.98, 1), {}, kMargin), Verdict::kUnclear);
  EXPECT_EQ(verdict({}, {}, kMargin), Verdict::kUnclear);
}

TEST(Verdict, FromPairsOfAWholeFinal) {
  // Twelve rounds are six pairs; ln ratios of their means 0.01 to 0.06: t(5) = 2.5706 times 0.018708 / sqrt(6).
  std::vector<double> baseline, contender(12, 1.0);
  for (int i = 0; i < 12; ++i) baseline.push_back(std::exp(0.01 * (1 + i / 2) + (i % 2 == 0 ? 0.002 : -0.002)));
  const LogRatio time = paired_log_ratio(baseline, contender);
  EXPECT_NEAR(time.interval.low, 0.035 - 0.019633, 1e-6);
  EXPECT_NEAR(time.interval.high, 0.035 + 0.019633, 1e-6);
  EXPECT_NEAR(half_width(time), 0.019633, 1e-6);
  EXPECT_EQ(verdict(time, time, kMargin), Verdict::kFaster);
}

}  // namespace
}  // namespace pgtune::stats
