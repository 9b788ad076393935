// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/device_choice.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "db/queries/queries.hpp"
#include "tests/support/scratch_folder.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

class KnownGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    add_gpu("0000:04:00.0", "GPU-11112222-3333-4444-5555-666677778888");
    std::ofstream(folder_ / "version")
        << "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"
           "GCC version:  gcc version 12.2.0\n";
    DeviceInfo device;
    device.uuid = "GPU-11112222-3333-4444-5555-666677778888";
    device.name = "NVIDIA H200";
    device.driver_version = "580.159.04";
    Problem problem;
    problem.m = problem.n = problem.k = 64;
    db::SessionRow session;
    (void)db::begin_session(database_, device, {"0.1.0", "Linux"}, problem, {"tiny", "00"}, session);
  }

  void add_gpu(const std::string& bus, const std::string& uuid) const {
    fs::create_directories(folder_ / "gpus" / bus);
    std::ofstream(folder_ / "gpus" / bus / "information")
        << "Model: \t\t NVIDIA H200\nIRQ:   \t\t 20\nGPU UUID: \t " << uuid << "\n";
  }
  [[nodiscard]] std::optional<DeviceInfo> find(const std::string& option) const {
    return known_gpu(
        database_, option, [](const char*) { return std::optional<std::string>(); }, folder_.path(), limits());
  }
  [[nodiscard]] ReadLimits limits() const {
    return [this](const std::string& uuid) {
      EXPECT_EQ(uuid, "GPU-11112222-3333-4444-5555-666677778888");
      return limits_;
    };
  }

  const support::ScratchFolder folder_;
  Result<device::GpuLimits> limits_ = device::GpuLimits{700, false};
  db::Database database_ = db::Database::open_memory();
};

TEST_F(KnownGpuTest, FindsTheOnlyGpuByEveryNameItHas) {
  for (const char* option : {"auto", "0", "GPU-1111", "GPU-11112222-3333-4444-5555-666677778888"}) {
    const auto info = find(option);
    ASSERT_TRUE(info) << option;
    EXPECT_EQ(info->name, "NVIDIA H200");
  }
}

TEST_F(KnownGpuTest, AnotherDeviceIsNotMeant) {
  for (const char* option : {"1", "recording", "GPU-9999", "all"}) EXPECT_FALSE(find(option)) << option;
}

TEST_F(KnownGpuTest, SeveralGpusAreInDoubt) {
  add_gpu("0000:05:00.0", "GPU-99992222-3333-4444-5555-666677778888");
  EXPECT_FALSE(find("auto"));
}

TEST_F(KnownGpuTest, AnotherDriverOrNoneIsInDoubt) {
  std::ofstream(folder_ / "version") << "NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.10  Release Build\n";
  EXPECT_FALSE(find("auto"));
  fs::remove(folder_ / "version");
  EXPECT_FALSE(find("auto"));
}

TEST_F(KnownGpuTest, VisibleDevicesAreLeftToCuda) {
  const auto environment = [](const char*) { return std::optional<std::string>("0"); };
  EXPECT_FALSE(known_gpu(database_, "auto", environment, folder_.path(), limits()));
}

TEST_F(KnownGpuTest, HasThePowerLimitOfToday) {
  EXPECT_EQ(find("auto").value().power_limit_w, 700);
  limits_ = device::GpuLimits{500, false};
  EXPECT_EQ(find("auto").value().power_limit_w, 500);
}

TEST_F(KnownGpuTest, ThatWasDividedOrSaysNothingIsInDoubt) {
  limits_ = device::GpuLimits{700, true};
  EXPECT_FALSE(find("auto"));
  limits_ = fail(ErrorKind::kEnvironment, "no NVML");
  EXPECT_FALSE(find("auto"));
}

}  // namespace
}  // namespace pgtune::tool
