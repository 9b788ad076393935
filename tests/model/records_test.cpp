// SPDX-License-Identifier: MIT
// Records of a file that may be somebody else's: what no measurement gives is found.
#include "tuner/model/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tuner/model/energy_window.hpp"
#include "tuner/util/fields_json.hpp"
#include "tuner/util/json_reader.hpp"

namespace pgtune {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Sample possible_sample() { return {Stage::kFinal, 1, 0, 10, 1e-3, 1.98e9}; }

std::string flaw_of(const std::function<void(Sample&)>& spoil) {
  Sample sample = possible_sample();
  spoil(sample);
  const auto valid = sample.validate();
  return valid ? "" : valid.error().message;
}

TEST(Validate, SamplesMustBePossible) {
  EXPECT_TRUE(possible_sample().validate());
  for (const double time_s : {0.0, -1.0, kInfinity, kNan, 1e30}) {
    EXPECT_THAT(flaw_of([&](Sample& sample) { sample.time_s = time_s; }), HasSubstr("a sample of 10 launches"));
  }
  EXPECT_THAT(flaw_of([](Sample& sample) { sample.launches = 0; }), HasSubstr("0 launches"));
  EXPECT_THAT(flaw_of([](Sample& sample) { sample.round = -1; }), HasSubstr("impossible number -1 as round"));
  EXPECT_THAT(flaw_of([](Sample& sample) { sample.position = -7; }), HasSubstr("impossible number -7 as position"));
  EXPECT_THAT(flaw_of([](Sample& sample) { sample.sm_clock_hz = kNan; }), HasSubstr("nan as sm_clock_hz"));
  EXPECT_THAT(flaw_of([](Sample& sample) { sample.thermal_s = kInfinity; }), HasSubstr("inf as thermal_s"));
}

TEST(Validate, DevicesMustBePossible) {
  DeviceInfo device;
  EXPECT_TRUE(device.validate());
  device.compute_major = std::numeric_limits<int>::max();
  EXPECT_EQ(device.arch_number(), 21474836470) << "of any number";
  device.compute_major = std::numeric_limits<int>::min();
  EXPECT_THAT(device.validate().error().message, HasSubstr("a device with the impossible number -2147483648"));
}

TEST(Validate, WhatSomebodyElseWroteIsAskedWhenItIsRead) {
  DeviceInfo device;
  EXPECT_TRUE(read_untrusted_json<DeviceInfo>(nlohmann::json(device).dump()));
  device.sm_count = -3;
  EXPECT_THAT(read_untrusted_json<DeviceInfo>(nlohmann::json(device).dump()).error().message,
              HasSubstr("a device with the impossible number -3 as sm_count"));
}

TEST(Validate, BuildsMustBePossible) {
  BuildInfo build;
  EXPECT_TRUE(build.validate());
  build.spill_bytes = -8;
  EXPECT_EQ(build.validate().error().message, "a build with the impossible number -8 as spill_bytes");
}

TEST(Validate, EnergyWindowsMustBePossible) {
  EnergyWindow window;
  window.window_s = 5;
  window.energy_j = 100;
  EXPECT_TRUE(window.validate());
  window.energy_j = kInfinity;
  EXPECT_THAT(window.validate().error().message, HasSubstr("an energy window with the impossible number inf"));
}

}  // namespace
}  // namespace pgtune
