// SPDX-License-Identifier: MIT
#include "tool/pgtune/counters/profiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/counters/metrics.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two launches as ncu lists them, its messages around.
constexpr const char* kTable =
    R"csv(==PROF== Connected to process 7
"ID","Process ID","Kernel Name","dram__bytes_read.sum","gpu__time_duration.sum","sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active","smsp__average_warp_latency_per_inst_issued.ratio","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"
"","","","byte","ns","%","inst","inst","inst"
"0","7","sgemm(const float *, int)","134,217,728","2,700,128","77.50","4.00","0.10","n/a"
"1","7","other","64","12","1","2","1","0"
)csv";

TEST(ParseProfile, StallsAreSharesOfTheWarpsTime) {
  const auto kernels = parse_profile(kTable);
  ASSERT_TRUE(kernels) << kernels.error().text();
  ASSERT_EQ(kernels->size(), 2U);
  const KernelCounters& first = kernels->front();
  EXPECT_EQ(first.kernel, "sgemm");
  EXPECT_DOUBLE_EQ(first.duration_s, 2.700128e-3);
  EXPECT_DOUBLE_EQ(first.dram_read_bytes.value(), 134'217'728);
  EXPECT_DOUBLE_EQ(first.fma_pipe_share.value(), 0.775);
  EXPECT_DOUBLE_EQ(first.stall_long_scoreboard.value(), 0.025);
  EXPECT_EQ(first.stall_barrier, std::nullopt) << "the profiler had no number";
  EXPECT_EQ(first.l2_hit_share, std::nullopt) << "the table has no such column";
  EXPECT_DOUBLE_EQ(kernels->back().stall_long_scoreboard.value(), 0.5);
}

/// A table of one metric of one kernel.
KernelCounters only(const std::string& metric, const std::string& unit, const std::string& value) {
  const auto kernels = parse_profile("\"ID\",\"" + metric + "\"\n\"\",\"" + unit + "\"\n\"0\",\"" + value + "\"\n");
  return kernels ? kernels->front() : KernelCounters();
}

TEST(ParseProfile, UnitsAreTakenInWhateverMultipleTheyCome) {
  EXPECT_DOUBLE_EQ(only("dram__bytes_read.sum", "Mbyte", "134.217728").dram_read_bytes.value(), 134'217'728);
  EXPECT_DOUBLE_EQ(only("gpu__time_duration.sum", "usecond", "1,234.5").duration_s, 1.2345e-3);
  EXPECT_DOUBLE_EQ(only("sm__cycles_elapsed.avg.per_second", "cycle/nsecond", "1.755").sm_clock_hz.value(), 1.755e9);
}

TEST(ParseProfile, AUnitOfAnotherKindIsNoNumber) {
  EXPECT_EQ(only("dram__bytes_read.sum", "sector", "12").dram_read_bytes, std::nullopt);
  EXPECT_EQ(only("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "Kbyte", "12").bank_conflicts, std::nullopt);
  EXPECT_EQ(only("lts__t_sector_hit_rate.pct", "", "12").l2_hit_share, std::nullopt);
}

TEST(ParseProfile, WhatIsNoNumberIsAbsent) {
  for (const char* text : {"n/a", "", "no data", "inf", "nan", "-1", "12x", "1 (2)"})
    EXPECT_EQ(only("dram__bytes_read.sum", "byte", text).dram_read_bytes, std::nullopt) << text;
}

TEST(ParseProfile, SharedMemorysBytesAreASharesOfWhatItsBanksCanDo) {
  // 132 multiprocessors, 1000 cycles, a quarter and an eighth of 128 bytes in each.
  constexpr const char* kBanks =
      "\"ID\",\"l1tex__data_bank_reads.avg.pct_of_peak_sustained_elapsed\","
      "\"l1tex__data_bank_writes.avg.pct_of_peak_sustained_elapsed\",\"sm__cycles_elapsed.sum\"\n"
      "\"\",\"%\",\"%\",\"cycle\"\n\"0\",\"25\",\"12.5\",\"132,000\"\n";
  EXPECT_DOUBLE_EQ(parse_profile(kBanks)->front().smem_bytes.value(), 0.375 * 132'000 * 128);
}

TEST(ParseProfile, NamesOfKernelsMayHoldQuotesAndCommas) {
  const auto kernels = parse_profile(
      "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\r\n\"\",\"\",\"byte\"\r\n"
      "\"0\",\"void f<(int)8, \"\"x\"\">(A<B>, C)\",\"5\"\r\n");
  ASSERT_TRUE(kernels);
  EXPECT_EQ(kernels->front().kernel, "f<(int)8, \"x\">");
  EXPECT_DOUBLE_EQ(kernels->front().dram_read_bytes.value(), 5);
}

TEST(ParseProfile, ShortRowsLackTheirLastColumns) {
  const auto kernels = parse_profile("\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n\"0\",\"f\"\n");
  ASSERT_TRUE(kernels);
  EXPECT_EQ(kernels->front().dram_read_bytes, std::nullopt);
}

TEST(ParseProfile, ForbiddenCountersComeWithTheRemedy) {
  const auto kernels = parse_profile("==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have ...\n");
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(kernels.error().text(),
              AllOf(HasSubstr("run as root"), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
}

TEST(ParseProfile, SoDoCountersThatAnotherProgramReads) {
  const auto kernels = parse_profile("==ERROR== Profiling failed because a Driver resource unavailable. Ensure ...\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().text(), HasSubstr("dcgmi profiling --pause"));
}

TEST(ParseProfile, OtherComplaintsAreQuoted) {
  EXPECT_THAT(parse_profile("==ERROR== LibraryNotLoaded\nmore\n").error().text(),
              AllOf(HasSubstr("LibraryNotLoaded"), Not(HasSubstr("more"))));
  EXPECT_THAT(parse_profile("").error().text(), HasSubstr("measured no kernel"));
  EXPECT_FALSE(parse_profile("\"0\",\"no title line\"\n"));
}

class Profile : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.command = {"/bin/echo", "said"};
    request_.patience = std::chrono::seconds(30);
    request_.on_line = [this](const std::string& line) { heard_ += line + ";"; };
    std::ofstream(folder_ / "table") << kTable;
  }
  /// A profiler with $log, $metrics, and $version where only that is asked for.
  Result<std::vector<KernelCounters>> run(const std::string& script) {
    const auto program = folder_ / "ncu";
    std::ofstream(program) << "#!/bin/sh\ncd '" << folder_.path().string() << "'\n"
                           << "[ \"$1\" = --version ] && { echo 'Version 2025.3.1.0 (build 1) (public)'; exit; }\n"
                           << "all=\"$*\"; while [ $# -gt 0 ]; do case $1 in --log-file) log=$2;; --metrics) "
                              "metrics=$2;; esac; shift; done\n"
                           << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return profile(program, request_, stop_);
  }

  const support::ScratchFolder folder_;
  ProfileRequest request_;
  std::atomic<bool> stop_ = false;
  std::string heard_;
};

TEST_F(Profile, LeavesClocksAloneAndReadsTheProgramsOwnRange) {
  const auto kernels = run("echo \"$all\"; exit 3\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(heard_, AllOf(HasSubstr("--clock-control none"), HasSubstr("--profile-from-start off"),
                            HasSubstr("--cache-control all"), HasSubstr("/bin/echo said")));
  EXPECT_THAT(kernels.error().text(), HasSubstr("exited with 3"));
}

TEST_F(Profile, WarmOperandsStayInTheCaches) {
  request_.l2 = L2State::kWarm;
  EXPECT_FALSE(run("echo \"$all\"; exit 3\n"));
  EXPECT_THAT(heard_, HasSubstr("--cache-control none"));
}

TEST_F(Profile, ReadsTheLogAndSaysWhoseNumbersTheseAre) {
  const auto kernels = run("cp table \"$log\"\n");
  ASSERT_TRUE(kernels) << kernels.error().text();
  ASSERT_EQ(kernels->size(), 2U);
  EXPECT_EQ(kernels->front().profiler, "ncu 2025.3.1.0");
}

TEST_F(Profile, AsksAgainWithoutWhatAGpuDoesNotHave) {
  const auto kernels =
      run("case $metrics in *dram__bytes_read.sum*) echo '==ERROR== Failed to find metric dram__bytes_read.sum' > "
          "\"$log\"; "
          "exit 1;; esac\ncp table \"$log\"\n");
  ASSERT_TRUE(kernels) << kernels.error().text();
  EXPECT_EQ(kernels->size(), 2U);
}

TEST_F(Profile, AsksOnlyOnceMore) {
  const auto kernels = run("echo again >> count; echo \"==ERROR== no ${metrics%%,*}\" > \"$log\"; exit 1\n");
  ASSERT_FALSE(kernels);
  EXPECT_EQ(read_file(folder_ / "count"), "again\nagain\n");
}

TEST_F(Profile, EndsWhenItIsStopped) {
  stop_ = true;
  const auto kernels = run("sleep 60\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().text(), HasSubstr("stopped"));
}

TEST_F(Profile, EndsWhenItTakesTooLong) {
  request_.patience = std::chrono::seconds(0);
  const auto kernels = run("sleep 60\n");
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().text(), HasSubstr("more than 0 s"));
}

}  // namespace
}  // namespace pgtune::tool
