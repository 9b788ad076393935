// SPDX-License-Identifier: MIT
// Energy windows over scripted sensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/gpu/energy_scripted_gpu.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::HasSubstr;

protocol::EnergyRequest request(double window_s = 5, double lead_in_s = 2, double max_uncertainty = 0.01) {
  return {
      .contender = {}, .lead_in_s = lead_in_s, .window_s = window_s, .max_uncertainty = max_uncertainty, .index = 0};
}

TEST(EnergyWatch, ARegularCounterGivesTheMeanPower) {
  ScriptedGpu gpu;
  const double begin_s = gpu.now_s;
  const auto watched = gpu.watch(request());
  ASSERT_TRUE(watched) << watched.error().text();
  const EnergyWindow& window = watched->window;
  EXPECT_GE(window.window_s, 5 - 3e-3);
  EXPECT_LT(window.window_s, 5.11);
  EXPECT_NEAR(static_cast<double>(window.steps), window.window_s / 0.1, 0.1);
  EXPECT_NEAR(window.step_s, 0.1, 1e-4);
  EXPECT_NEAR(window.power_w(), 600, 600 * window.uncertainty);
  EXPECT_LE(window.uncertainty, 2 * 2.9e-3 / window.window_s);
  EXPECT_GT(window.uncertainty, 2 * 2.7e-3 / window.window_s);
  EXPECT_DOUBLE_EQ(window.averaged_power_w, 600);
  EXPECT_FALSE(window.suspect());
  EXPECT_EQ(window.launches, 0);
  EXPECT_GE(watched->start_s - begin_s, 2);
  EXPECT_LT(watched->start_s - begin_s, 2.2);
  EXPECT_DOUBLE_EQ(watched->end_s - watched->start_s, window.window_s);
}

TEST(EnergyWatch, ThePowerIsRightWithinTheStatedUncertaintyWhateverTheJitter) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    ScriptedGpu gpu;
    std::mt19937 random(seed);
    gpu.now_s += std::uniform_real_distribution<>(0, 0.1)(random);
    gpu.reading_s = [&] { return random() % 20 == 0 ? std::uniform_real_distribution<>(3e-3, 17e-3)(random) : 2.8e-3; };
    gpu.step_s = [seed](std::int64_t n) {
      std::minstd_rand jitter(static_cast<unsigned>(n) * 7919 + seed + 1);
      jitter.discard(3);
      return 0.1 * static_cast<double>(n) + std::uniform_real_distribution<>(-3e-3, 3e-3)(jitter);
    };
    const auto watched = gpu.watch(request(2));
    ASSERT_TRUE(watched) << watched.error().text();
    const EnergyWindow& window = watched->window;
    EXPECT_LE(window.uncertainty, 0.01);
    EXPECT_NEAR(window.power_w(), gpu.power_w, gpu.power_w * window.uncertainty) << "seed " << seed;
    EXPECT_NEAR(window.step_s, 0.1, 2e-3);
  }
}

TEST(EnergyWatch, AStepMissedInsideTheWindowIsCountedAllTheSame) {
  ScriptedGpu gpu;
  bool stalled = false;
  gpu.reading_s = [&] {
    if (stalled || gpu.now_s < 1004.05) return 2.8e-3;
    stalled = true;
    return 0.23;
  };
  const auto watched = gpu.watch(request());
  ASSERT_TRUE(watched) << watched.error().text();
  EXPECT_TRUE(stalled);
  EXPECT_NEAR(static_cast<double>(watched->window.steps), watched->window.window_s / 0.1, 0.1);
  EXPECT_NEAR(watched->window.power_w(), 600, 600 * watched->window.uncertainty);
}

TEST(EnergyWatch, AnEdgeInASlowReadingIsPassedOver) {
  ScriptedGpu gpu;
  // Around the first step after the lead-in, and around the one that would end the window.
  gpu.reading_s = [&] {
    const bool slow = (gpu.now_s > 1001.95 && gpu.now_s < 1002.05) || (gpu.now_s > 1007.05 && gpu.now_s < 1007.15);
    return slow ? 60e-3 : 2.8e-3;
  };
  const auto watched = gpu.watch(request());
  ASSERT_TRUE(watched) << watched.error().text();
  EXPECT_GT(watched->start_s, 1002.05);
  EXPECT_GT(watched->end_s, 1007.15);
  EXPECT_LE(watched->window.uncertainty, 2 * 2.9e-3 / 5);
}

TEST(EnergyWatch, AveragedPowerCountsFromTheWindowsSecondSecondOn) {
  ScriptedGpu gpu;
  // The average over the last second has forgotten the time before the window only then.
  gpu.averaged_w = [](double time_s) { return time_s < 1003 ? 100.0 : 630.0; };
  const auto watched = gpu.watch(request());
  ASSERT_TRUE(watched) << watched.error().text();
  EXPECT_DOUBLE_EQ(watched->window.averaged_power_w, 630);
}

TEST(EnergyWatch, ThrottleSharesAndTemperaturesComeFromBothEdges) {
  ScriptedGpu gpu;
  gpu.celsius = [](double time_s) { return time_s < 1004 ? 41.0 : 57.0; };
  const auto watched = gpu.watch(request());
  ASSERT_TRUE(watched) << watched.error().text();
  ASSERT_TRUE(watched->window.power_cap_share);
  EXPECT_NEAR(*watched->window.power_cap_share, 0.25, 1e-3);
  EXPECT_FALSE(watched->window.thermal_share);
  EXPECT_EQ(watched->window.temperature_start_c, 41);
  EXPECT_EQ(watched->window.temperature_end_c, 57);
}

TEST(EnergyWatch, MissingSensorsLeaveGaps) {
  ScriptedGpu gpu;
  EnergySensors sensors = gpu.sensors();
  sensors.averaged_power_w = sensors.temperature_c = [] { return std::nullopt; };
  sensors.throttle_times = [] { return ThrottleTimes{}; };
  const auto watched = watch_energy(request(), sensors, [](EnergyTracker::Signal) { return Result<void>{}; });
  ASSERT_TRUE(watched) << watched.error().text();
  EXPECT_EQ(watched->window.averaged_power_w, 0);
  EXPECT_EQ(watched->window.temperature_end_c, 0);
  EXPECT_FALSE(watched->window.power_cap_share);
}

TEST(EnergyWatch, FailedReadingsOnlyBlurAnEdge) {
  ScriptedGpu gpu;
  int count = 0;
  gpu.distort = [&](double, double energy_j) {
    return ++count % 3 == 0 ? std::nullopt : std::optional<double>(energy_j);
  };
  const auto watched = gpu.watch(request());
  ASSERT_TRUE(watched) << watched.error().text();
  EXPECT_NEAR(watched->window.power_w(), 600, 600 * watched->window.uncertainty);
}

TEST(EnergyWatch, ListenersHearOfStartAndEndOnceAndInOrder) {
  ScriptedGpu gpu;
  std::vector<EnergyTracker::Signal> heard;
  const auto watched = watch_energy(request(2), gpu.sensors(), [&](EnergyTracker::Signal signal) -> Result<void> {
    if (signal == EnergyTracker::Signal::kStarted || signal == EnergyTracker::Signal::kEnded) heard.push_back(signal);
    return {};
  });
  ASSERT_TRUE(watched) << watched.error().text();
  EXPECT_EQ(heard,
            (std::vector<EnergyTracker::Signal>{EnergyTracker::Signal::kStarted, EnergyTracker::Signal::kEnded}));
}

TEST(EnergyWatch, AListenersErrorEndsTheWatch) {
  ScriptedGpu gpu;
  const auto watched = watch_energy(request(), gpu.sensors(), [&](EnergyTracker::Signal) -> Result<void> {
    if (gpu.now_s < 1001) return {};
    return fail(ErrorKind::kInternal, "the load ended");
  });
  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.error().message, "the load ended");
  EXPECT_LT(gpu.now_s, 1001.1);
}

TEST(EnergyWatch, AFastCounterDoesNotOccupyTheHost) {
  ScriptedGpu gpu;
  int readings = 0;
  gpu.reading_s = [&] {
    ++readings;
    return 1e-6;
  };
  ASSERT_TRUE(gpu.watch(request(2, 0)));
  EXPECT_LT(readings, 3000);
}

}  // namespace
}  // namespace pgtune::gpu
