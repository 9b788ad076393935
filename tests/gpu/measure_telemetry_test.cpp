// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/telemetry.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

#include "tests/nvml/fake_nvml_test.hpp"

namespace pgtune::gpu {
namespace {

TEST(CountedTime, IsTheDifferenceAndNeverNegative) {
  EXPECT_DOUBLE_EQ(counted_s(1.5, 1.75).value(), 0.25);
  EXPECT_EQ(counted_s(1.5, 1.5), 0.0);
  EXPECT_EQ(counted_s(9.0, 0.5), 0.0);
}

TEST(CountedTime, NeedsBothReadings) {
  EXPECT_FALSE(counted_s(std::nullopt, 1.0));
  EXPECT_FALSE(counted_s(1.0, std::nullopt));
}

TEST(Telemetry, WithoutNvmlNothingIsRecorded) {
  const Telemetry telemetry;
  Sample sample;
  telemetry.record_temperature(sample);
  telemetry.record_throttling(telemetry.throttle_times(), sample);
  EXPECT_EQ(sample, Sample());
  EXPECT_EQ(telemetry.watch(), nullptr);
}

/// What a counter that steps every 100 ms, from 30 ms on, says of 700 W, read at `readings_ms` from then on.
std::optional<double> power_w(const std::vector<double>& readings_ms) {
  CounterPower power;
  for (const double at_ms : readings_ms) power.add(at_ms * 1e-3, 70 * std::floor((at_ms + 70) / 100));
  return power.power_w();
}

std::vector<double> every_ms(double from_ms, double to_ms) {
  std::vector<double> out;
  for (double at_ms = from_ms; at_ms <= to_ms; ++at_ms) out.push_back(at_ms);
  return out;
}

TEST(CounterPower, IsThatBetweenTheStepsOfTheCounter) { EXPECT_NEAR(power_w(every_ms(0, 250)).value(), 700, 1e-6); }

TEST(CounterPower, AStepSeenLateDoesNotCount) {
  std::vector<double> readings_ms{0, 20, 55};  // as while launches are queued; the step at 30 ms is seen at 55
  for (const double at_ms : every_ms(56, 250)) readings_ms.push_back(at_ms);
  EXPECT_NEAR(power_w(readings_ms).value(), 700, 1e-6) << "between 130 and 230 ms";
}

TEST(CounterPower, NeedsTwoStepsWhoseInstantsAreKnown) {
  EXPECT_FALSE(power_w(every_ms(0, 120)));
  EXPECT_FALSE(power_w({0, 60, 120, 180, 240}));
}

using TelemetryOnGpu = test::FakeNvmlTest;

TEST_F(TelemetryOnGpu, RecordsTemperatureAndTheCountersDifferences) {
  gpu().add("temperature 47");
  gpu().add("field 74 5000000");   // power cap, in nanoseconds
  gpu().add("field 271 2000000");  // power brake
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << nvml.error().text();
  const auto device = nvml->device("GPU-known");
  ASSERT_TRUE(device) << device.error().text();
  const Telemetry telemetry(*device);
  Sample sample;
  telemetry.record_temperature(sample);
  EXPECT_EQ(sample.temperature_c, 47.0);
  EXPECT_FALSE(sample.power_cap_s);
  const ThrottleTimes before = telemetry.throttle_times();
  gpu().replace({"field", "74"}, "field 74 8000000");
  telemetry.record_throttling(before, sample);
  ASSERT_TRUE(sample.power_cap_s);
  EXPECT_NEAR(*sample.power_cap_s, 3e-3, 1e-9);
  EXPECT_EQ(sample.thermal_s, 0.0);
}

TEST_F(TelemetryOnGpu, AWatchSeesPowerAndTheCountersOfItsBeginning) {
  gpu().add("energy_period_ms 20");  // a joule each: 50 W
  gpu().add("field 74 5000000");
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << nvml.error().text();
  const Telemetry telemetry(*nvml->device("GPU-known"));
  SampleWatch::Seen seen;
  for (int i = 0; i < 50 && !seen.power_w; ++i) {  // a busy machine may see steps too late
    const auto watch = telemetry.watch();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    seen = watch->end();
  }
  ASSERT_TRUE(seen.power_w);
  EXPECT_NEAR(*seen.power_w, 50, 15);
  EXPECT_EQ(seen.throttled_before.power_cap_s, 5e-3);
  gpu().replace({"field", "74"}, "field 74 8000000");
  EXPECT_EQ(telemetry.watch()->end().throttled_before.power_cap_s, 8e-3);
}

TEST_F(TelemetryOnGpu, AWatchThatNobodyEndsEndsItself) {
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << nvml.error().text();
  EXPECT_NE(Telemetry(*nvml->device("GPU-known")).watch(), nullptr);
}

TEST_F(TelemetryOnGpu, LeavesOutWhatTheGpuLacks) {
  gpu().add("field 74 5000000");
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << nvml.error().text();
  const Telemetry telemetry(*nvml->device("GPU-known"));
  Sample sample;
  telemetry.record_throttling(telemetry.throttle_times(), sample);
  EXPECT_EQ(sample.power_cap_s, 0.0);
  EXPECT_FALSE(sample.thermal_s);
}

}  // namespace
}  // namespace pgtune::gpu
