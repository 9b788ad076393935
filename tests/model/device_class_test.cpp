// SPDX-License-Identifier: MIT
// For which GPUs a result counts.
#include "tuner/model/device_class.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"

namespace pgtune {
namespace {

DeviceInfo h200(const std::string& uuid = "GPU-a") {
  DeviceInfo info;
  info.uuid = uuid;
  info.name = "NVIDIA H200";
  info.architecture = "sm_90a";
  info.compute_major = 9;
  info.sm_count = 132;
  info.memory_bytes = 150109880320;
  info.l2_bytes = 62914560;
  info.power_limit_w = 700;
  info.driver_version = "580.159.04";
  return info;
}

DeviceClass changed(const std::function<void(DeviceInfo&)>& change) {
  DeviceInfo info = h200();
  change(info);
  return device_class(info);
}

TEST(DeviceClass, HasAText) {
  EXPECT_EQ(device_class(h200()).text(), "NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W, driver 580");
  EXPECT_EQ(device_class(h200()).hardware(), "NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W");
}

TEST(DeviceClass, BoardsOfAKindAreOne) {
  EXPECT_EQ(device_class(h200("GPU-a")), device_class(h200("GPU-b")));
  EXPECT_EQ(device_class(h200("GPU-a")).text(), device_class(h200("GPU-b")).text());
}

/// What differs in little that does not matter to a result.
TEST(DeviceClass, LeavesOutWhatVariesWithinAKind) {
  const DeviceClass usual = device_class(h200());
  EXPECT_EQ(changed([](DeviceInfo& info) { info.driver_version = "580.95.05"; }), usual);
  EXPECT_EQ(changed([](DeviceInfo& info) { info.memory_bytes -= 64 << 20; }), usual);
  EXPECT_EQ(changed([](DeviceInfo& info) { info.power_limit_w = 699.99; }), usual);
  EXPECT_EQ(changed([](DeviceInfo& info) { info.nvrtc_version = "12.8"; }), usual);
}

class DifferentClass : public ::testing::TestWithParam<std::function<void(DeviceInfo&)>> {};

TEST_P(DifferentClass, DiffersInComparisonAndText) {
  const DeviceClass usual = device_class(h200()), other = changed(GetParam());
  EXPECT_FALSE(other == usual);
  EXPECT_NE(other.text(), usual.text());
}

INSTANTIATE_TEST_SUITE_P(EachPart, DifferentClass,
                         ::testing::Values([](DeviceInfo& gpu) { gpu.name = "NVIDIA H100"; },
                                           [](DeviceInfo& gpu) { gpu.compute_major = 10; },
                                           [](DeviceInfo& gpu) { gpu.compute_minor = 3; },
                                           [](DeviceInfo& gpu) { gpu.sm_count = 114; },
                                           [](DeviceInfo& gpu) { gpu.memory_bytes /= 2; },
                                           [](DeviceInfo& gpu) { gpu.power_limit_w = 500; },
                                           [](DeviceInfo& gpu) { gpu.mig_profile = "7g.141gb"; },
                                           [](DeviceInfo& gpu) { gpu.driver_version = "595.10"; }));

TEST(DeviceClass, OfAnInstanceNamesItsProfile) {
  EXPECT_EQ(changed([](DeviceInfo& info) {
              info.name = "NVIDIA H200 MIG 1g.18gb";
              info.mig_profile = "1g.18gb";
              info.sm_count = 16;
              info.memory_bytes = std::int64_t{16} << 30;
            }).text(),
            "NVIDIA H200 MIG 1g.18gb, sm_90, 16 SMs, 16 GiB, 700 W, MIG 1g.18gb, driver 580");
}

/// Two boards of which one may be limited to half the power are not known to be alike.
TEST(DeviceClass, WithSomethingUnknownHasOneBoardAlone) {
  const auto unlimited = [](const std::string& uuid) {
    DeviceInfo info = h200(uuid);
    info.power_limit_w = 0;
    return device_class(info);
  };
  EXPECT_EQ(unlimited("GPU-a"), unlimited("GPU-a"));
  EXPECT_FALSE(unlimited("GPU-a") == unlimited("GPU-b"));
  EXPECT_FALSE(unlimited("GPU-a") == device_class(h200("GPU-a")));
  EXPECT_EQ(unlimited("GPU-a").text(),
            "NVIDIA H200, sm_90, 132 SMs, 140 GiB, power limit unknown, only GPU-a, driver 580");
  EXPECT_EQ(changed([](DeviceInfo& info) { info.memory_bytes = 0; }).text(),
            "NVIDIA H200, sm_90, 132 SMs, memory unknown, 700 W, only GPU-a, driver 580");
}

TEST(DeviceClass, OfNumbersThatNoGpuHasIsUnknown) {
  for (const double limit_w : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(changed([&](DeviceInfo& info) { info.power_limit_w = limit_w; }).power_limit_w, 0);
}

TEST(DeviceClass, IsARecord) {
  const DeviceClass usual = device_class(h200());
  const nlohmann::json json = usual;
  EXPECT_EQ(json.at("sm_count"), 132);
  EXPECT_FALSE(json.contains("only_board"));
  EXPECT_EQ(json.get<DeviceClass>(), usual);
}

TEST(DeviceInfoJson, LeavesOutTheProfileOfAWholeGpu) {
  DeviceInfo info = h200();
  EXPECT_FALSE(nlohmann::json(info).contains("mig_profile"));
  EXPECT_EQ(nlohmann::json(info).get<DeviceInfo>(), info);
  info.mig_profile = "1g.18gb";
  EXPECT_EQ(nlohmann::json(info).get<DeviceInfo>(), info);
}

}  // namespace
}  // namespace pgtune
