// SPDX-License-Identifier: MIT
// Benches that are stopped, that run on a recording, and that measure again what a search found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_bench.hpp"
#include "tuner/device/replay_device.hpp"

namespace pgtune::session {
namespace {

using testing::ElementsAre;
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

/// Rounds of `time_s` per launch with a wobble, so that intervals are not points.
std::vector<Sample> recorded_rounds(double time_s) {
  std::vector<Sample> samples;
  for (int round = 1; round <= 12; ++round) {
    samples.push_back({Stage::kFinal, round, 0, 10, 10 * time_s * (1 + 1e-4 * (round % 3)), 1.98e9});
  }
  return samples;
}

TEST(BenchAgain, WorksOnARecordingAndNamesWhatItLacks) {
  TestBench bench;
  device::Recording recording;
  recording.origin = "test";
  recording.device = bench.search.device().device_info;
  device::RecordedProblem problem;
  problem.problem = bench.search.problem;
  problem.baseline.report = bench.search.device().baseline;
  problem.baseline.rounds = {{0, recorded_rounds(1.2e-3)}, {1, recorded_rounds(1.1e-3)}};
  auto& recorded = problem.variants["fake/" + variant(5, 3).key()];
  recorded.build.cubin_hash = "cubin";
  recorded.build.registers = 64;
  recorded.trial.samples = {{Stage::kScreen, 0, 0, 10, 10e-3, 1.98e9}};
  recorded.rounds = recorded_rounds(1e-3);
  recording.problems = {problem};
  device::ReplayDevice device(std::move(recording));
  double now_s = 0;
  const auto result = bench.run(device, &now_s);
  ASSERT_TRUE(result && result->answer) << result.error().text();
  ASSERT_EQ(result->answer->ranking.size(), 1U);
  EXPECT_NEAR(result->answer->best().ratio_to_baseline, 1.1, 1e-3);
  EXPECT_THAT(result->not_recorded, ElementsAre(variant(1, 1)));
  EXPECT_THAT(result->failed, IsEmpty());
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
