// SPDX-License-Identifier: MIT
#include "tuner/model/kernel_counters.hpp"

#include <gtest/gtest.h>

#include "tuner/model/json.hpp"

namespace pgtune {
namespace {

KernelCounters kernel(const char* name, double duration_s, double dram_read_bytes, double occupancy_share) {
  KernelCounters counters;
  counters.kernel = name;
  counters.duration_s = duration_s;
  counters.dram_read_bytes = dram_read_bytes;
  counters.occupancy_share = occupancy_share;
  return counters;
}

TEST(KernelCounters, OneKernelIsItself) {
  const KernelCounters one = kernel("one", 2, 100, 0.5);
  EXPECT_EQ(combined({one}), one);
}

TEST(KernelCounters, SeveralAreSumsAndMeansByDuration) {
  const KernelCounters both = combined({kernel("short", 1, 30, 0.2), kernel("long", 3, 100, 0.6)});
  EXPECT_EQ(both.kernel, "long");
  EXPECT_EQ(both.kernels, 2);
  EXPECT_DOUBLE_EQ(both.duration_s, 4);
  EXPECT_DOUBLE_EQ(both.dram_read_bytes.value(), 130);
  EXPECT_DOUBLE_EQ(both.occupancy_share.value(), 0.5);
  EXPECT_EQ(both.l2_read_bytes, std::nullopt);
}

TEST(KernelCounters, WhatOneKernelLacksIsAbsent) {
  KernelCounters lacking = kernel("lacking", 1, 30, 0.2);
  lacking.dram_read_bytes.reset();
  lacking.occupancy_share.reset();
  for (const auto& order : {std::vector{lacking, kernel("b", 3, 1, 1)}, {kernel("b", 3, 1, 1), lacking}}) {
    EXPECT_EQ(combined(order).dram_read_bytes, std::nullopt);
    EXPECT_EQ(combined(order).occupancy_share, std::nullopt);
  }
}

TEST(KernelCounters, BytesAreKnownOnlyBothWays) {
  KernelCounters counters = kernel("one", 1, 30, 0);
  EXPECT_EQ(counters.dram_bytes(), std::nullopt);
  counters.dram_write_bytes = 12;
  EXPECT_DOUBLE_EQ(counters.dram_bytes().value(), 42);
}

TEST(KernelCounters, StallsComeLongestFirst) {
  KernelCounters counters;
  counters.stall_barrier = 0.1;
  counters.stall_wait = 0.3;
  const auto stalls = counters.stalls();
  ASSERT_EQ(stalls.size(), 2U);
  EXPECT_EQ(stalls[0].first, "wait");
  EXPECT_EQ(stalls[1].first, "barrier");
}

TEST(KernelCounters, JsonLeavesOutWhatIsNotKnown) {
  const KernelCounters one = kernel("one", 2, 100, 0.5);
  const nlohmann::json object = one;
  EXPECT_FALSE(object.contains("l2_hit_share"));
  EXPECT_EQ(object.get<KernelCounters>(), one);
}

TEST(KernelCounters, NumbersThatNoProfilerGivesAreRefused) {
  KernelCounters counters = kernel("one", 2, 100, 0.5);
  EXPECT_TRUE(counters.validate());
  counters.dram_read_bytes = -1;
  EXPECT_FALSE(counters.validate());
}

}  // namespace
}  // namespace pgtune
