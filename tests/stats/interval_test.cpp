// SPDX-License-Identifier: MIT
#include "tuner/stats/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace pgtune::stats {
namespace {

/// Normal values of which each keeps `correlation` of the one before.
class Series {
 public:
  explicit Series(std::uint64_t seed, double correlation = 0) : random_(seed), correlation_(correlation) {
    last_ = normal();
  }
  double next() { return last_ = correlation_ * last_ + std::sqrt(1 - correlation_ * correlation_) * normal(); }
  std::vector<double> next(std::size_t count) {
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(next());
    return out;
  }

 private:
  double uniform() { return (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

  std::mt19937_64 random_;
  double correlation_, last_ = 0;
};

constexpr int kRuns = 2000;

/// Share of runs whose interval holds the true mean, 0.
double coverage(std::size_t values, double correlation) {
  int held = 0;
  for (int run = 0; run < kRuns; ++run) {
    Series series(static_cast<std::uint64_t>(run), correlation);
    held += batch_mean_interval(series.next(values)).interval.contains(0) ? 1 : 0;
  }
  return static_cast<double>(held) / kRuns;
}

TEST(StudentT, IsThatOfTheTables) {
  EXPECT_NEAR(student_t(0.95, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t(0.95, 2), 4.30265, 1e-5);
  EXPECT_NEAR(student_t(0.95, 5), 2.57058, 1e-5);
  EXPECT_NEAR(student_t(0.99, 11), 3.10581, 1e-5);
  EXPECT_NEAR(student_t(0.95, 1000), 1.96234, 1e-5);
}

TEST(LookConfidence, SharesTheErrorAmongTheLooks) {
  EXPECT_DOUBLE_EQ(look_confidence(1), 0.95);
  EXPECT_DOUBLE_EQ(look_confidence(0), 0.95);
  EXPECT_DOUBLE_EQ(look_confidence(4), 0.9875);
  EXPECT_DOUBLE_EQ(look_confidence(5, 0.9), 0.98);
}

TEST(LookConfidence, KeepsTheCoverageOfWhoStopsWhenItIsClear) {
  const auto missed = [](double confidence) {
    int count = 0;
    for (int run = 0; run < kRuns; ++run) {
      Series series(static_cast<std::uint64_t>(run));
      std::vector<double> values = series.next(24);
      while (values.size() < 48 && batch_mean_interval(values, confidence).interval.contains(0)) {
        for (const double value : series.next(8)) values.push_back(value);
      }
      count += batch_mean_interval(values, confidence).interval.contains(0) ? 0 : 1;
    }
    return static_cast<double>(count) / kRuns;
  };
  EXPECT_GT(missed(0.95), 0.08) << "looking four times without a correction";
  EXPECT_LT(missed(look_confidence(4)), 0.05);
}

TEST(BatchMeanInterval, HoldsTheMeanAsOftenAsItSays) {
  for (const std::size_t values : {6U, 11U, 12U, 13U, 24U, 31U, 48U}) {
    EXPECT_NEAR(coverage(values, 0), 0.95, 0.015) << values << " values";
  }
}

TEST(BatchMeanInterval, AllowsForNeighboursThatAreAlike) {
  // Taken one by one, 48 values of this kind give intervals that hold the mean in 83 % of the cases.
  EXPECT_GT(coverage(48, 0.35), 0.90);
}

TEST(BatchMeanInterval, DriftThatPairsCancelDoesNotWidenIt) {
  // A contender's place in the second round of a pair mirrors that in the first.
  std::vector<double> values;
  for (int round = 0; round < 24; ++round) values.push_back(0.02 + (round % 2 == 0 ? 0.01 : -0.01));
  const MeanInterval mean = batch_mean_interval(values);
  EXPECT_NEAR(mean.mean, 0.02, 1e-12);
  EXPECT_LT(mean.interval.high - mean.interval.low, 1e-12);
}

TEST(BatchMeanInterval, AnOutlierMovesAndWidensItLittle) {
  for (const double unit : {1.0, 1e-3}) {
    Series series(3);
    std::vector<double> values = series.next(24);
    for (double& value : values) value *= unit;
    const MeanInterval calm = batch_mean_interval(values);
    values[7] = 500 * unit;
    const MeanInterval disturbed = batch_mean_interval(values);
    EXPECT_NEAR(disturbed.mean, calm.mean, 0.3 * unit);
    EXPECT_LT(disturbed.interval.high - disturbed.interval.low, 2 * (calm.interval.high - calm.interval.low));
  }
}

TEST(BatchMeanInterval, TwoLevelsAreNoOutliers) {
  Series series(5);
  std::vector<double> values;
  for (int round = 0; round < 24; ++round) values.push_back((round % 12 < 7 ? 100 : 200) + series.next());
  const MeanInterval mean = batch_mean_interval(values);
  EXPECT_NEAR(mean.mean, (7 * 100 + 5 * 200) / 12.0, 1);
  EXPECT_GT(mean.interval.high - mean.interval.low, 30);
}

TEST(BatchMeanInterval, TooFewValuesHaveARangeWithoutCoverage) {
  const MeanInterval mean = batch_mean_interval(std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_EQ(mean.mean, 3);
  EXPECT_EQ(mean.interval.low, 1);
  EXPECT_EQ(mean.interval.high, 5);
  EXPECT_EQ(mean.interval.coverage, 0);
  EXPECT_EQ(batch_mean_interval({}).mean, 0);
}

}  // namespace
}  // namespace pgtune::stats
