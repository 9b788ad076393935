// SPDX-License-Identifier: MIT
#include "tuner/util/host_limits.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/scratch_folder.hpp"

namespace pgtune {
namespace {

namespace fs = std::filesystem;

class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() {
    write("proc/meminfo", "MemTotal:       32000 kB\nMemFree:         1000 kB\nMemAvailable:   20000 kB\n");
    write("proc/self/cgroup", "12:memory:/old\n0::/batch/job\n");
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] std::optional<std::int64_t> available() const {
    return available_memory_bytes(root_ / "proc", root_ / "cgroup");
  }

  const support::ScratchFolder root_;
};

TEST_F(HostMemoryTest, WithoutALimitWhatTheKernelCallsAvailable) {
  EXPECT_EQ(available(), 20'000 << 10);
  write("cgroup/batch/job/memory.max", "max\n");
  write("cgroup/batch/job/memory.current", "5000\n");
  EXPECT_EQ(available(), 20'000 << 10);
}

TEST_F(HostMemoryTest, NoMoreThanTheTightestControlGroupHasLeft) {
  write("cgroup/batch/job/memory.max", "8000000\n");
  write("cgroup/batch/job/memory.current", "3000000\n");
  EXPECT_EQ(available(), 5'000'000);
  write("cgroup/batch/memory.max", "6000000\n");
  write("cgroup/batch/memory.current", "5000000\n");
  EXPECT_EQ(available(), 1'000'000);
  write("cgroup/batch/memory.stat", "anon 100\ninactive_file 500000\n");
  EXPECT_EQ(available(), 1'500'000) << "the kernel takes cached files out of memory first";
}

TEST_F(HostMemoryTest, NothingWhereTheKernelDoesNotTell) {
  fs::remove_all(root_ / "proc");
  EXPECT_EQ(available(), std::nullopt);
}

class HostCoresTest : public HostMemoryTest {
 protected:
  [[nodiscard]] std::optional<double> quota() const { return core_limits(root_ / "proc", root_ / "cgroup").quota; }
};

TEST_F(HostCoresTest, TheQuotaIsTheTightestOfTheGroups) {
  EXPECT_EQ(quota(), std::nullopt);
  write("cgroup/batch/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("cgroup/batch/cpu.max", "350000 100000\n");
  EXPECT_EQ(quota(), 3.5);
  write("cgroup/batch/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(HostCoresTest, AndOfTheOldHierarchy) {
  write("proc/self/cgroup", "12:memory:/old\n4:cpuacct,cpu:/slurm/job\n3:cpuset:/other\n");
  write("cgroup/cpu/slurm/job/cpu.cfs_period_us", "100000\n");
  write("cgroup/cpu/slurm/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), std::nullopt) << "-1 is no limit";
  write("cgroup/cpu/slurm/job/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(quota(), 4);
}

TEST(HostCores, TheLeastOfAllLimits) {
  EXPECT_EQ((CoreLimits{16, std::nullopt, std::nullopt}.least()), 16U);
  EXPECT_EQ((CoreLimits{16, 4, std::nullopt}.least()), 4U);
  EXPECT_EQ((CoreLimits{16, 4, 2.5}.least()), 2U);
  EXPECT_EQ((CoreLimits{16, 4, 0.5}.least()), 1U);
  EXPECT_EQ((CoreLimits{16, 8, 12.0, "6"}.least()), 6U);
  EXPECT_EQ((CoreLimits{16, 8, 12.0, "many"}.least()), 8U);
  EXPECT_EQ((CoreLimits{0, std::nullopt, std::nullopt}.least()), 1U);
}

TEST(HostCores, FollowTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(core_limits().affinity, 1U);
  EXPECT_EQ(usable_cores(), 1U);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(core_limits().affinity, static_cast<std::size_t>(CPU_COUNT(&before)));
}

TEST(HostMemory, ThisMachineHasSomeAndNoMoreThanIsBuiltIn) {
  EXPECT_GT(available_memory_bytes().value_or(0), 0);
  EXPECT_LE(available_memory_bytes().value_or(0), ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
}

}  // namespace
}  // namespace pgtune
