// SPDX-License-Identifier: MIT
// Kernels and intervals from a table of times.
#include "tuner/session/family/cover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace pgtune::session {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Optional;

constexpr std::nullopt_t kNot = std::nullopt;

TEST(PredictedCycles, ComeFromTheNearestMTimesTheCostsRatio) {
  Measured variant;
  const auto cost = [](std::int64_t m) { return static_cast<double>(m); };
  EXPECT_FALSE(predicted_cycles(variant, 5, cost));
  variant.cycles = {{64, 100}, {1024, 1000}};
  for (const auto& [m, cycles] : {std::pair{64, 100.0},
                                  {32, 50.0},
                                  {128, 200.0},
                                  {255, 100 * 255 / 64.0},
                                  {257, 1000 * 257 / 1024.0},
                                  {2048, 2000.0},
                                  {1024, 1000.0}})
    EXPECT_THAT(predicted_cycles(variant, m, cost), Optional(DoubleNear(cycles, 1e-9))) << m;
}

TEST(PredictedCycles, WithoutCostsStayAsTheyWere) {
  Measured variant;
  variant.cycles = {{64, 100}};
  EXPECT_THAT(predicted_cycles(variant, 77, [](std::int64_t) { return 0.0; }), Optional(100));
}

TEST(Interpolated, GoesByLogM) {
  const std::map<std::int64_t, double> known{{16, 1.0}, {256, 2.0}};
  for (const auto& [m, value] : {std::pair{1, 1.0}, {16, 1.0}, {64, 1.5}, {256, 2.0}, {9999, 2.0}})
    EXPECT_NEAR(interpolated(known, m), value, 1e-12) << m;
}

TEST(BoundByLargerClasses, FewerRowsTakeNoLongerAndWhatIsUnknownTakesAsLong) {
  std::vector<std::optional<double>> times{kNot, 4.0, 7.0, 5.0, 6.0, kNot};
  bound_by_larger_classes(times, std::vector<bool>(6, true), std::vector<bool>(6, false));
  EXPECT_THAT(times, ElementsAre(Optional(4.0), Optional(4.0), Optional(5.0), Optional(5.0), Optional(6.0), kNot));
  times = {kNot, kNot, 5.0};
  bound_by_larger_classes(times, {true, false, true}, std::vector<bool>(3, false));
  EXPECT_THAT(times, ElementsAre(Optional(5.0), kNot, Optional(5.0)));
}

TEST(BoundByLargerClasses, WhatWasMeasuredStaysAndBoundsFewerRows) {
  // An H200, 4096x14336: a cluster of two blocks of 32 rows takes 37.5 us for 32 rows and 32.0 us for 64.
  std::vector<std::optional<double>> times{40.0, 38.0, 37.5, 34.8, 32.0};
  bound_by_larger_classes(times, std::vector<bool>(5, true), {false, false, true, false, true});
  EXPECT_THAT(times, ElementsAre(Optional(37.5), Optional(37.5), Optional(37.5), Optional(32.0), Optional(32.0)));
}

TEST(ClassWeights, AreSharesOfTheLogarithms) {
  const auto weights = class_weights(1, std::vector<std::int64_t>{1, 3, 7});
  EXPECT_THAT(weights, ElementsAre(DoubleNear(1 / 3.0, 1e-9), DoubleNear(1 / 3.0, 1e-9), DoubleNear(1 / 3.0, 1e-9)));
}

TEST(ChooseKernels, TakesThoseThatSaveMost) {
  const TimeTable times{{10, 10, 20, 20}, {20, 20, 10, 10}, {11, 11, 11, 11}};
  const std::vector<double> weights(4, 0.25);
  EXPECT_THAT(choose_kernels(times, weights, 1), ElementsAre(2));
  EXPECT_THAT(choose_kernels(times, weights, 2), ElementsAre(0, 1)) << "the first choice was exchanged";
  EXPECT_THAT(choose_kernels(times, weights, 3), ElementsAre(0, 1)) << "a third saves nothing";
}

TEST(ChooseKernels, CoverEveryClassFirst) {
  const TimeTable times{{10, 10, kNot}, {9, 5, kNot}, {kNot, kNot, 50}};
  EXPECT_THAT(choose_kernels(times, std::vector<double>{0.49, 0.49, 0.02}, 2), ElementsAre(1, 2));
}

TEST(ChooseKernels, ALargeLossCountsMore) {
  // The second kernel loses 3 % everywhere, the first nothing in three of four classes and 12 % in one.
  const TimeTable times{{100, 100, 100, 112}, {102, 102, 102, 102}, {100.5, 150, 150, 100}};
  EXPECT_THAT(choose_kernels(times, std::vector<double>(4, 0.25), 1), ElementsAre(1));
}

std::vector<std::size_t> all(const TimeTable& times) {
  std::vector<std::size_t> out(times.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

TEST(Cover, NeighboursWithinTheToleranceMerge) {
  const TimeTable times{{100, 100, 101, 110}, {100.5, 100.9, 100, 100}};
  const auto intervals = cover(times, all(times));
  ASSERT_TRUE(intervals);
  ASSERT_EQ(intervals->size(), 1U);
  EXPECT_EQ(intervals->front().kernel, 1U);
  EXPECT_EQ(intervals->front().last_class, 3U);
  EXPECT_EQ(intervals->front().spare, std::size_t{0});
}

TEST(Cover, AnIntervalEndsWhereItsKernelLosesTooMuch) {
  const TimeTable times{{100, 100, 102, kNot}, {102, 100.5, 100, 100}, {kNot, 300, 300, kNot}};
  const auto intervals = cover(times, all(times));
  ASSERT_TRUE(intervals);
  ASSERT_EQ(intervals->size(), 2U);
  EXPECT_EQ((*intervals)[0].kernel, 0U);
  EXPECT_EQ((*intervals)[0].last_class, 1U);
  EXPECT_EQ((*intervals)[0].spare, std::size_t{1});
  EXPECT_EQ((*intervals)[1].kernel, 1U);
  EXPECT_EQ((*intervals)[1].last_class, 3U);
  EXPECT_EQ((*intervals)[1].spare, kNot) << "no other serves all of it";
}

TEST(Cover, AClassWithoutAKernelIsAnError) {
  const TimeTable times{{100, kNot}};
  EXPECT_FALSE(cover(times, all(times)));
}

}  // namespace
}  // namespace pgtune::session
