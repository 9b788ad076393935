// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

TEST(LaunchesFor, FillsTheTargetAndKeepsTheMinimum) {
  EXPECT_EQ(launches_for(5e-3, 1e-3, 1, 1), 5);
  EXPECT_EQ(launches_for(5e-3, 2.7e-3, 1, 1), 2);
  EXPECT_EQ(launches_for(2e-3, 2.7e-3, 3, 1), 3);
  EXPECT_EQ(launches_for(2e-3, 21e-3, 1, 1), 1);
}

TEST(LaunchesFor, RoundsUpToWholeGraphs) {
  EXPECT_EQ(launches_for(2e-3, 10e-6, 3, 81), 243);
  EXPECT_EQ(launches_for(2e-3, 10e-6, 3, 300), 300);
}

TEST(LaunchesFor, AnUnmeasurablyShortLaunchDoesNotMakeAnEndlessBlock) { EXPECT_LE(launches_for(5e-3, 0, 1, 1), 5000); }

TEST(RoundBlock, LastsTwentyMillisecondsOrFiveLaunchesOfTheSlowest) {
  EXPECT_DOUBLE_EQ(round_block_s(1e-3), 20e-3);
  EXPECT_DOUBLE_EQ(round_block_s(21e-3), 105e-3);
}

TEST(Screening, MedianIsOverBlocksPerLaunch) {
  Screening screening;
  EXPECT_EQ(screening.median_per_launch_s(), 0);
  for (const double time_s : {3e-3, 1e-3, 8e-3}) {
    Block block;
    block.launches = 2;
    block.time_s = time_s;
    screening.blocks.push_back(block);
  }
  EXPECT_DOUBLE_EQ(screening.median_per_launch_s(), 1.5e-3);
  screening.blocks.pop_back();
  EXPECT_DOUBLE_EQ(screening.median_per_launch_s(), 1e-3);
}

TEST(MeanClock, AveragesTheSmsSeenBothTimes) {
  const std::vector<ClockReading> before{{1000, 50}, {1000, 70}, {0, 0}, {1000, 5}};
  const std::vector<ClockReading> after{{2000, 1850}, {3000, 3870}, {2000, 99}, {0, 0}};
  EXPECT_DOUBLE_EQ(mean_clock_hz(before, after), (1.8e9 + 1.9e9) / 2);
  EXPECT_EQ(mean_clock_hz({}, {}), 0);
}

}  // namespace
}  // namespace pgtune::gpu
