// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tuner/gpu/measure/round.hpp"
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

TEST(LaunchesFor, AnUnmeasurablyShortLaunchDoesNotMakeAnEndlessSample) { EXPECT_EQ(launches_for(5e-3, 0, 1, 1), 5000); }

TEST(RoundTiming, SustainedSamplesFollowEachOtherAfterALeadInOfAFifth) {
  const RoundTiming timing = round_timing(Regime::kSustained, 20e-3, 1e-3);
  EXPECT_EQ(timing.pause_s, 0);
  EXPECT_DOUBLE_EQ(timing.sample_s, 20e-3);
  EXPECT_DOUBLE_EQ(timing.lead_in_s, 4e-3);
  EXPECT_DOUBLE_EQ(round_timing(Regime::kSustained, 50e-3, 1e-3).sample_s, 50e-3);
}

TEST(RoundTiming, BurstsAreShortAndStartFromARestedGpu) {
  const RoundTiming timing = round_timing(Regime::kBurst, 20e-3, 1e-3);
  EXPECT_DOUBLE_EQ(timing.pause_s, 50e-3);
  EXPECT_DOUBLE_EQ(timing.sample_s, 10e-3);
  EXPECT_EQ(timing.lead_in_s, 0);  // one launch, whatever it takes
  EXPECT_EQ(launches_for(timing.lead_in_s, 1e-3, 1, 1), 1);
  EXPECT_EQ(launches_for(timing.lead_in_s, 2e-6, 1, 64), 64);
  EXPECT_DOUBLE_EQ(round_timing(Regime::kBurst, 5e-3, 1e-3).sample_s, 5e-3);
}

TEST(RoundTiming, HoldsFiveLaunchesOfTheSlowestOrAsManyAsAreLongEnough) {
  for (const Regime regime : {Regime::kSustained, Regime::kBurst}) {
    EXPECT_DOUBLE_EQ(round_timing(regime, 20e-3, 5e-3).sample_s, 25e-3);
    EXPECT_DOUBLE_EQ(round_timing(regime, 20e-3, 8e-3).sample_s, 40e-3);
    EXPECT_DOUBLE_EQ(round_timing(regime, 20e-3, 15e-3).sample_s, 40e-3);
    EXPECT_DOUBLE_EQ(round_timing(regime, 20e-3, 21e-3).sample_s, 42e-3);
  }
}

TEST(LaunchMode, TheFirstContenderChoosesForAllOfARotation) {
  LaunchMode short_launches, long_launches;
  short_launches.choose(19e-6);
  short_launches.choose(30e-6);
  EXPECT_TRUE(short_launches.in_graphs());
  long_launches.choose(30e-6);
  long_launches.choose(19e-6);
  EXPECT_FALSE(long_launches.in_graphs());
}

TEST(LaunchMode, IsOneForAllSeriesOfARotationAndItsCopies) {
  class Nothing : public Launchable {
   public:
    CudaResult<> launch(std::size_t /*copy*/, cudaStream_t /*stream*/) override { return {}; }
  } nothing;
  const Rotation one, other;
  const LaunchSeries winner(nothing, one, nullptr), baseline(nothing, Rotation(one), nullptr),
      elsewhere(nothing, other, nullptr);
  baseline.mode().set(true);  // the host was too slow for this one
  winner.mode().choose(1e-3);
  EXPECT_TRUE(winner.mode().in_graphs());
  EXPECT_FALSE(elsewhere.mode().in_graphs());
}

TEST(Screening, MedianIsOverSamplesPerLaunch) {
  Screening screening;
  EXPECT_EQ(screening.median_per_launch_s(), 0);
  for (const double time_s : {3e-3, 1e-3, 8e-3}) {
    Sample sample;
    sample.launches = 2;
    sample.time_s = time_s;
    screening.samples.push_back(sample);
  }
  EXPECT_DOUBLE_EQ(screening.median_per_launch_s(), 1.5e-3);
}

TEST(MeanClock, AveragesTheSmsSeenBothTimes) {
  const std::vector<ClockReading> before{{1000, 50}, {1000, 70}, {0, 0}, {1000, 5}};
  const std::vector<ClockReading> after{{2000, 1850}, {3000, 3870}, {2000, 99}, {0, 0}};
  EXPECT_DOUBLE_EQ(mean_clock_hz(before, after), (1.8e9 + 1.9e9) / 2);
  EXPECT_EQ(mean_clock_hz({}, {}), 0);
}

}  // namespace
}  // namespace pgtune::gpu
