// SPDX-License-Identifier: MIT
// pgtune-worker --role limits: what may change of a GPU from day to day, and --role processes: who is on it; without
// CUDA.
#include "tests/nvml/fake_nvml_test.hpp"
#include "tuner/device/device_list.hpp"

namespace pgtune::gpu {
namespace {

class LimitsRole : public test::FakeNvmlTest {};

TEST_F(LimitsRole, ReadsThemThroughNvml) {
  const auto usual = device::gpu_limits(PGTUNE_WORKER_PATH, "GPU-known");
  ASSERT_TRUE(usual) << usual.error().text();
  EXPECT_DOUBLE_EQ(usual->power_limit_w, 650.5);
  EXPECT_FALSE(usual->mig_mode);
  gpu().add("power_limit_mw 500000");
  gpu().add("mig_mode 1");
  const auto changed = device::gpu_limits(PGTUNE_WORKER_PATH, "GPU-known");
  ASSERT_TRUE(changed) << changed.error().text();
  EXPECT_DOUBLE_EQ(changed->power_limit_w, 500);
  EXPECT_TRUE(changed->mig_mode);
}

TEST_F(LimitsRole, AnUnknownGpuIsAnError) {
  const auto limits = device::gpu_limits(PGTUNE_WORKER_PATH, "GPU-other");
  ASSERT_FALSE(limits);
  EXPECT_EQ(limits.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(limits.error().message, ::testing::HasSubstr("GPU-other"));
}

TEST_F(LimitsRole, ProcessesOnTheGpuWithTheirNames) {
  gpu().add("process " + std::to_string(::getpid()) + " 1073741824");
  gpu().add("process 2147483646 -1");  // beyond what a system numbers: it has no name here
  const auto processes = device::gpu_processes(PGTUNE_WORKER_PATH, "GPU-known");
  ASSERT_TRUE(processes) << processes.error().text();
  ASSERT_EQ(processes->size(), 2U);
  EXPECT_EQ(processes->at(0).text(), std::to_string(::getpid()) + " (clock_guard_tes, 1024 MiB)");
  EXPECT_EQ(processes->at(1).text(), "2147483646");
  const auto unknown = device::gpu_processes(PGTUNE_WORKER_PATH, "GPU-other");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().text(), ::testing::HasSubstr("GPU-other"));
}

}  // namespace
}  // namespace pgtune::gpu
