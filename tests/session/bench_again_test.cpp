// SPDX-License-Identifier: MIT
// Benches that are stopped, and that measure again what a search found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_bench.hpp"

namespace pgtune::session {
namespace {

using testing::IsEmpty;

TEST(BenchAgain, AStopKeepsTheRoundsSoFar) {
  TestBench bench;
  auto device = bench.search.device();
  device.after_round = [&](Stage stage) {
    bench.search.stop = stage == Stage::kFinal && device.rounds[Stage::kFinal].size() == 8;
  };
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(result->interrupted);
  EXPECT_FALSE(result->answer->complete);
  EXPECT_THAT(result->failed, IsEmpty());
  EXPECT_EQ(bench.search.store.rounds[Stage::kFinal].front().front().samples.size(), 8U);
}

TEST(BenchAgain, AStopDuringTheFloorEndsIt) {
  TestBench bench;
  auto device = bench.search.device();
  device.after_round = [&](Stage /*stage*/) { bench.search.stop = true; };
  const auto result = bench.run(device);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_FALSE(result->answer);
  EXPECT_THAT(result->failed, IsEmpty()) << "nobody failed";
  EXPECT_THAT(device.trials, IsEmpty());
}

TEST(BenchAgain, WhatASearchFoundHolds) {
  TestBench bench;
  auto searching = bench.search.device();
  const auto found = bench.search.run(searching);
  ASSERT_TRUE(found && found->answer);
  auto device = bench.search.device();
  const auto same = bench.run(device);
  ASSERT_TRUE(same && same->answer);
  const RankedVariant& stored = found->answer->ranking.front();
  EXPECT_EQ(held(stored, *find(*same, stored.variant), same->answer->floor.margin).held, Held::kHeld);

  bench.search.plan = [](const Variant& variant) {
    Script script = plain_script(variant);
    script.time_s *= 1.05;
    return script;
  };
  auto slower = bench.search.device();
  const auto changed = bench.run(slower);
  ASSERT_TRUE(changed && changed->answer);
  EXPECT_EQ(held(stored, *find(*changed, stored.variant), changed->answer->floor.margin).held, Held::kSlower);
}

}  // namespace
}  // namespace pgtune::session
