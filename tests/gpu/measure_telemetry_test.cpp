// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/telemetry.hpp"

#include <gtest/gtest.h>

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
