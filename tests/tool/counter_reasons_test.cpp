// SPDX-License-Identifier: MIT

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/pgtune/report/counters_view.hpp"

namespace pgtune::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Ceilings roofs() { return {.dram_bytes_per_s = 4e12, .l2_bytes_per_s = 8e12, .smem_bytes_per_s = 30e12, .flops = {}}; }

/// In a millisecond: `dram` of DRAM's 4 GB, `l2` of L2's 8.
KernelCounters moving(double dram, double l2) {
  KernelCounters counters;
  counters.duration_s = 1e-3;
  counters.dram_read_bytes = dram * 4e9;
  counters.dram_write_bytes = 0;
  counters.l2_read_bytes = l2 * 8e9;
  counters.l2_write_bytes = 0;
  return counters;
}

TEST(Reasons, NothingIsKnownOfNothing) { EXPECT_THAT(reasons(KernelCounters(), 1e-3, roofs()), IsEmpty()); }

TEST(Reasons, TheRoofThatIsUsedMostIsTheLimit) {
  EXPECT_THAT(reasons(moving(0.94, 0.5), 1e-3, roofs()),
              ElementsAre("limited by DRAM: at 94 % of its measured bandwidth"));
  EXPECT_THAT(reasons(moving(0.3, 0.7), 1e-3, roofs()), ElementsAre("close to L2: at 70 % of its measured bandwidth"));
  KernelCounters busy = moving(0.3, 0.5);
  busy.tensor_pipe_share = 0.9;
  EXPECT_THAT(reasons(busy, 1e-3, roofs()), ElementsAre("limited by the tensor cores: busy 90 % of the time"));
}

TEST(Reasons, NoRoofIsALimitFromFar) {
  EXPECT_THAT(reasons(moving(0.3, 0.41), 1e-3, roofs()),
              ElementsAre("no roof is near: the nearest is L2, at 41 % of its measured bandwidth"));
}

TEST(Reasons, BandwidthIsOfTheTimeThatPgtuneMeasured) {
  EXPECT_THAT(reasons(moving(0.45, 0), 0.5e-3, roofs()),
              ElementsAre("limited by DRAM: at 90 % of its measured bandwidth"));
  EXPECT_THAT(reasons(moving(0.9, 0), 0, roofs()), ElementsAre("limited by DRAM: at 90 % of its measured bandwidth"))
      << "the profiler's where there is no other";
}

TEST(Reasons, WithoutMeasuredRoofsNoBandwidthIsJudged) {
  EXPECT_THAT(reasons(moving(0.9, 0.9), 1e-3, std::nullopt), IsEmpty());
  Ceilings without = roofs();
  without.smem_bytes_per_s.reset();
  KernelCounters counters;
  counters.smem_bytes = 1e9;
  EXPECT_THAT(roof_uses(counters, 1e-3, without), IsEmpty());
  EXPECT_THAT(roof_uses(counters, 1e-3, roofs()), SizeIs(1));
}

TEST(Reasons, WaitingForGlobalMemoryNamesTheLevelThatIsUsedMore) {
  KernelCounters counters = moving(0.94, 0.5);
  counters.stall_long_scoreboard = 0.61;
  counters.stall_barrier = 0.3;
  EXPECT_THAT(reasons(counters, 1e-3, roofs()),
              ElementsAre("limited by DRAM: at 94 % of its measured bandwidth",
                          "its warps wait for DRAM 61 % of their time: it is at 94 % of its measured bandwidth"));
  EXPECT_THAT(reasons(counters, 1e-3, std::nullopt),
              ElementsAre("its warps wait for data from global memory 61 % of their time"));
}

TEST(Reasons, WaitingForGlobalMemoryThatIsNotBusyNamesNoLevel) {
  KernelCounters counters = moving(0.06, 0.59);
  counters.stall_long_scoreboard = 0.61;
  EXPECT_THAT(reasons(counters, 1e-3, roofs()),
              ElementsAre("no roof is near: the nearest is L2, at 59 % of its measured bandwidth",
                          "its warps wait for data from global memory 61 % of their time, and neither DRAM nor L2 is "
                          "near its bandwidth"));
}

TEST(Reasons, ShortStallsAndFewConflictsAreNotSaid) {
  KernelCounters counters;
  counters.stall_barrier = 0.19;
  counters.bank_conflicts = 9;
  counters.smem_wavefronts = 100;
  EXPECT_THAT(reasons(counters, 1e-3, roofs()), IsEmpty());
  counters.stall_barrier = 0.2;
  counters.bank_conflicts = 10;
  EXPECT_THAT(reasons(counters, 1e-3, roofs()), ElementsAre("its warps wait at CTA barriers 20 % of their time",
                                                            "10 % of its shared-memory accesses are bank conflicts"));
}

TEST(Reasons, EveryStallHasWords) {
  KernelCounters counters;
  KernelCounters::visit_stalls(counters, [](const char* /*name*/, std::optional<double>& share) { share = 0.1; });
  for (const auto& [stall, share] : counters.stalls()) EXPECT_NE(stall_text(stall), stall);
}

TEST(Differences, AreBytesThatDifferByATwentieth) {
  EXPECT_THAT(differences(moving(0.5, 0.5), moving(0.52, 0.4), "cuBLASLt"),
              ElementsAre("moves 1.25 times cuBLASLt's bytes through L2"));
  EXPECT_THAT(differences(KernelCounters(), moving(1, 1), "copy"), IsEmpty());
  EXPECT_THAT(differences(moving(1, 1), moving(0, 0), "copy"), IsEmpty());
}

TEST(CountersText, ManyContendersStandInSeveralTables) {
  CounterReport report;
  for (int i = 0; i < 6; ++i) report.contenders.push_back({.variant = Variant{}, .counters = moving(0.5, 0.5)});
  report.contenders.push_back({.algorithm = "library: algorithm", .missing = "it does not launch"});
  const std::string text = counters_text(report);
  EXPECT_THAT(text, HasSubstr("#6"));
  EXPECT_THAT(text, HasSubstr("cuBLASLt  no counters: it does not launch"));
  report.baseline = "copy";
  EXPECT_THAT(counters_text(report), HasSubstr("copy      no counters: it does not launch"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace pgtune::tool
