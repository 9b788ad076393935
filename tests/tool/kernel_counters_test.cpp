// SPDX-License-Identifier: MIT
#include "tool/pgtune/ladder/kernel_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pgtune::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two launches as ncu lists them, its messages around.
constexpr const char* kTable =
    R"csv(==PROF== Connected to process 7
"ID","Process ID","Kernel Name","gpu__time_duration.sum","sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active","smsp__average_warp_latency_per_inst_issued.ratio","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"
"","","","ns","%","inst","inst","inst"
"0","7","sgemm(const float *, int)","2,700,128","77.50","4.00","0.10","n/a"
"1","7","other","12","1","2","1","0"
)csv";

TEST(ParseProfile, StallsAreSharesOfTheWarpsTime) {
  const auto kernels = parse_profile(kTable);
  ASSERT_TRUE(kernels) << kernels.error().text();
  ASSERT_EQ(kernels->size(), 2U);
  const ProfiledKernel& first = kernels->front();
  EXPECT_EQ(first.name, "sgemm");
  EXPECT_DOUBLE_EQ(first.counters.at(kDuration), 2'700'128);
  EXPECT_DOUBLE_EQ(first.counters.at(kFmaPipe), 77.5);
  EXPECT_DOUBLE_EQ(first.counters.at(kLongScoreboard), 2.5);
  EXPECT_FALSE(first.counters.contains(kBarrier)) << "the profiler had no number";
  EXPECT_DOUBLE_EQ(kernels->back().counters.at(kLongScoreboard), 50);
}

TEST(ParseProfile, ForbiddenCountersComeWithTheRemedy) {
  const auto kernels = parse_profile("==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have ...\n");
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(kernels.error().text(),
              AllOf(HasSubstr("run as root"), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
}

TEST(ParseProfile, OtherComplaintsAreQuoted) {
  EXPECT_THAT(parse_profile("==ERROR== LibraryNotLoaded\nmore\n").error().text(),
              AllOf(HasSubstr("LibraryNotLoaded"), ::testing::Not(HasSubstr("more"))));
  EXPECT_THAT(parse_profile("").error().text(), HasSubstr("measured no kernel"));
  EXPECT_FALSE(parse_profile("\"0\",\"no title line\"\n"));
}

class Profile : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = std::filesystem::path(::testing::TempDir()) / "pgtune-fake-ncu";
    request_ = {{"/bin/echo", "said"}, {"one", "two"}, std::chrono::seconds(30), [this](const std::string& line) {
                  heard_ += line + ";";
                }};
  }
  void TearDown() override { std::filesystem::remove(program_); }
  Result<std::vector<ProfiledKernel>> run(const std::string& script) {
    std::ofstream(program_) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
    return profile(program_, request_, stop_);
  }

  std::filesystem::path program_;
  ProfileRequest request_;
  std::atomic<bool> stop_ = false;
  std::string heard_;
};

TEST_F(Profile, LeavesClocksAloneAndNamesTheKernels) {
  const auto kernels = run("echo \"$*\"; exit 3\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(heard_, AllOf(HasSubstr("--clock-control none"), HasSubstr("regex:^(one|two)$ /bin/echo said")));
  EXPECT_THAT(kernels.error().text(), HasSubstr("exited with 3"));
}

TEST_F(Profile, ReadsTheLog) {
  const std::string table = (program_.parent_path() / "pgtune-fake-ncu-table").string();
  std::ofstream(table) << kTable;
  const auto kernels =
      run("while [ $# -gt 0 ]; do [ \"$1\" = --log-file ] && cp '" + table + "' \"$2\"; shift; done\n");
  std::filesystem::remove(table);
  ASSERT_TRUE(kernels) << kernels.error().text();
  EXPECT_EQ(kernels->size(), 2U);
}

TEST_F(Profile, EndsWhenItIsStopped) {
  stop_ = true;
  const auto kernels = run("sleep 60\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().text(), HasSubstr("stopped"));
}

}  // namespace
}  // namespace pgtune::tool
