// SPDX-License-Identifier: MIT
#include "tuner/gpu/nvml/nvml.hpp"

#include <cmath>

#include "tests/nvml/fake_nvml_test.hpp"

namespace pgtune::gpu {
namespace {

class NvmlTest : public test::FakeNvmlTest {
 protected:
  static NvmlDevice device(const char* library = PGTUNE_FAKE_NVML) {
    return Nvml::open(library).value().device("GPU-known").value();
  }
};

TEST_F(NvmlTest, ReadsDriverAndPowerLimitByUuid) {
  const auto nvml = Nvml::open();
  ASSERT_TRUE(nvml) << nvml.error().text();
  EXPECT_EQ(nvml->driver_version(), "580.159.04");
  const auto gpu = nvml->device("GPU-known");
  ASSERT_TRUE(gpu);
  EXPECT_DOUBLE_EQ(gpu->power_limit_w(), 650.5);
  EXPECT_EQ(gpu->uuid(), "GPU-known");
  EXPECT_FALSE(nvml->device("GPU-other"));
}

TEST_F(NvmlTest, OfAnInstanceReadsTheProfileAndTheLimitOfItsGpu) {
  const auto instance = Nvml::open().value().device("MIG-known");
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->mig_profile(), "1g.18gb");
  EXPECT_DOUBLE_EQ(instance->power_limit_w(), 650.5);
  EXPECT_EQ(device().mig_profile(), "");
}

TEST_F(NvmlTest, SaysWhetherTheGpuIsDivided) {
  EXPECT_FALSE(device().in_mig_mode());
  gpu().add("mig_mode 1");
  EXPECT_TRUE(device().in_mig_mode());
  EXPECT_TRUE(Nvml::open().value().device("MIG-known").value().in_mig_mode());
}

TEST(MigProfile, IsWhatTheNameHasAfterMig) {
  EXPECT_EQ(mig_profile_in("NVIDIA H200 MIG 1g.18gb"), "1g.18gb");
  EXPECT_EQ(mig_profile_in("MIG 3g.71gb Device"), "3g.71gb");
  for (const char* whole : {"NVIDIA H200", "", "OMIG 1g", "MIG"}) EXPECT_EQ(mig_profile_in(whole), "") << whole;
}

TEST_F(NvmlTest, MissingLibraryIsAnEnvironmentError) {
  const auto nvml = Nvml::open("libpgtune-no-such-library.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(nvml.error().message.find("libpgtune-no-such-library.so.1"), std::string::npos) << nvml.error().message;
}

TEST_F(NvmlTest, LibraryWithoutItsFunctionsIsRefused) {
  const auto nvml = Nvml::open("libm.so.6");
  ASSERT_FALSE(nvml);
  EXPECT_NE(nvml.error().message.find("lacks"), std::string::npos) << nvml.error().message;
}

TEST_F(NvmlTest, LibraryThatDoesNotStartSaysWhy) {
  gpu().add("status nvmlInit_v2 4");
  const auto nvml = Nvml::open();
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().message, "NVML does not start: Insufficient Permissions (status 4)");
}

TEST_F(NvmlTest, ReadingsHaveTheirUnits) {
  gpu().add("temperature 63");
  gpu().add("energy_mj 1234567");
  gpu().add("sm_mhz 1755");
  gpu().add("field 185 691250");
  const NvmlDevice gpu = device();
  EXPECT_EQ(gpu.temperature_c(), 63);
  EXPECT_DOUBLE_EQ(gpu.energy_j().value(), 1234.567);
  EXPECT_DOUBLE_EQ(gpu.sm_clock_hz().value(), 1.755e9);
  EXPECT_DOUBLE_EQ(gpu.averaged_power_w().value(), 691.25);  // the upper half of the field is not a part of it
}

TEST_F(NvmlTest, ThrottleTimesAreByCause) {
  gpu().add("field 74 2500000000");
  gpu().add("field 75 700000000");
  gpu().add("field 269 400000000");
  gpu().add("field 270 300000000");
  gpu().add("field 271 50000000");
  const ThrottleTimes times = device().throttle_times();
  EXPECT_DOUBLE_EQ(times.power_cap_s.value(), 2.5);
  EXPECT_DOUBLE_EQ(times.thermal_s.value(), 0.7 + 0.05);
}

TEST_F(NvmlTest, ThrottleTimesOfADriverWithSomeOfTheFields) {
  gpu().add("field 74 1000000000");
  EXPECT_DOUBLE_EQ(device().throttle_times().power_cap_s.value(), 1);
  EXPECT_FALSE(device().throttle_times().thermal_s);
  gpu().add("field 270 1500000000");
  EXPECT_DOUBLE_EQ(device().throttle_times().thermal_s.value(), 1.5);
}

TEST_F(NvmlTest, WhatTheGpuDoesNotSupportIsEmpty) {
  for (const char* function : {"GetEnforcedPowerLimit", "GetTemperature", "GetFieldValues", "GetTotalEnergyConsumption",
                               "GetClockInfo", "GetComputeRunningProcesses_v3"})
    gpu().add(std::string("status nvmlDevice") + function + " 3");
  gpu().add("field 74 1");
  gpu().add("process 7 7");
  const NvmlDevice gpu = device();
  EXPECT_EQ(gpu.power_limit_w(), 0);
  EXPECT_FALSE(gpu.temperature_c() || gpu.energy_j() || gpu.averaged_power_w() || gpu.sm_clock_hz() ||
               gpu.throttle_times().power_cap_s || gpu.throttle_times().thermal_s);
  EXPECT_TRUE(gpu.compute_processes().empty());
}

TEST_F(NvmlTest, WhatTheDriverLacksIsEmpty) {
  const NvmlDevice gpu = device(PGTUNE_FAKE_NVML_OLD);
  EXPECT_EQ(gpu.power_limit_w(), 0);
  EXPECT_FALSE(gpu.temperature_c() || gpu.energy_j() || gpu.averaged_power_w() || gpu.sm_clock_hz() ||
               gpu.throttle_times().power_cap_s || gpu.throttle_times().thermal_s);
  EXPECT_TRUE(gpu.compute_processes().empty());
  EXPECT_FALSE(energy_step_s(gpu, std::chrono::milliseconds(0)));
}

TEST_F(NvmlTest, ProcessesWithTheirMemory) {
  EXPECT_TRUE(device().compute_processes().empty());
  gpu().add("process 4711 1073741824");
  gpu().add("process 4712 -1");
  const auto processes = device().compute_processes();
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_EQ(processes[0].pid, 4711);
  EXPECT_EQ(processes[0].memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(processes[1].pid, 4712);
  EXPECT_EQ(processes[1].memory_bytes, 0);
}

TEST_F(NvmlTest, MoreProcessesThanExpectedAreAllThere) {
  for (int pid = 1; pid <= 100; ++pid) gpu().add("process " + std::to_string(pid) + " 1");
  const auto processes = device().compute_processes();
  ASSERT_EQ(processes.size(), 100U);
  EXPECT_EQ(processes.back().pid, 100);
}

/// A counter that moves every `period_s` of its own time, which passes only while it is slept.
struct ScriptedCounter {
  double period_s = 0.1, now_s = 1000;
  std::optional<double> step_s(double patience_s) {
    return energy_step_s({.energy_j = [this] { return std::optional(std::floor(now_s / period_s)); },
                          .now_s = [this] { return now_s; },
                          .sleep_s = [this](double time_s) { now_s += time_s; }},
                         patience_s);
  }
};

TEST(EnergyStep, IsTheTimeBetweenTwoChanges) {
  const auto step_s = ScriptedCounter{}.step_s(2);
  ASSERT_TRUE(step_s);
  EXPECT_NEAR(*step_s, 0.1, 1e-3) << "readings are half a millisecond apart";
}

TEST(EnergyStep, NeedsThreeChangesWithinItsPatience) {
  EXPECT_TRUE(ScriptedCounter{}.step_s(0.35));
  EXPECT_FALSE(ScriptedCounter{}.step_s(0.25));
}

TEST_F(NvmlTest, TheDevicesEnergyCounterIsWatchedUntilItHasMoved) {
  gpu().add("energy_period_ms 5");
  EXPECT_TRUE(energy_step_s(device(), std::chrono::hours(1)));
}

TEST_F(NvmlTest, AnEnergyCounterThatStandsStillHasNoStep) {
  EXPECT_FALSE(energy_step_s(device(), std::chrono::milliseconds(30)));
}

}  // namespace
}  // namespace pgtune::gpu
