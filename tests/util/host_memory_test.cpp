// SPDX-License-Identifier: MIT
#include "tuner/util/host_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace pgtune {
namespace {

namespace fs = std::filesystem;

class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() : root_(fs::path(testing::TempDir()) / ("pgtune-memory-" + std::to_string(::getpid()))) {
    write("proc/meminfo", "MemTotal:       32000 kB\nMemFree:         1000 kB\nMemAvailable:   20000 kB\n");
    write("proc/self/cgroup", "12:memory:/old\n0::/batch/job\n");
  }
  ~HostMemoryTest() override { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] std::optional<std::int64_t> available() const {
    return available_memory_bytes(root_ / "proc", root_ / "cgroup");
  }

  fs::path root_;
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

TEST(HostMemory, ThisMachineHasSomeAndNoMoreThanIsBuiltIn) {
  EXPECT_GT(available_memory_bytes().value_or(0), 0);
  EXPECT_LE(available_memory_bytes().value_or(0), ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
}

}  // namespace
}  // namespace pgtune
