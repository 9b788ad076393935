// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test_bench.hpp"

namespace pgtune::session {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Bench, EachVariantGetsItsRatioToTheBaseline) {
  TestBench bench;
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(result->failed, IsEmpty());
  ASSERT_EQ(result->answer->ranking.size(), 2U);
  const auto* best = find(*result, variant(5, 3));
  const auto* slow = find(*result, variant(1, 1));
  ASSERT_TRUE(best && slow);
  EXPECT_NEAR(best->ratio_to_baseline, 1.1, 2e-3);
  EXPECT_EQ(best->verdict, stats::Verdict::kFaster);
  EXPECT_NEAR(slow->ratio_to_baseline, 1.1 / 1.7, 2e-3) << "too slow for a search's screening, but asked for";
  EXPECT_EQ(slow->verdict, stats::Verdict::kSlower);
  EXPECT_EQ(result->answer->best().variant, variant(5, 3));
  EXPECT_TRUE(result->answer->complete && result->answer->from_final);
  EXPECT_EQ(result->answer->counts.measured, 2);
  EXPECT_EQ(result->answer->floor.rounds, bench.search.options.floor_rounds);
  EXPECT_EQ(result->answer->finished_at, "2026-01-02T00:00:00Z");
  EXPECT_GT(result->answer->stages.final_s, 0);
}

TEST(Bench, WhoIsTooSlowForTheRoundsKeepsItsScreening) {
  TestBench bench;
  bench.request.slowest_in_rounds = 1.2;
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(result->failed, IsEmpty());
  ASSERT_EQ(result->answer->ranking.size(), 1U);
  EXPECT_EQ(result->answer->ranking.front().variant, variant(5, 3));
  ASSERT_EQ(result->screened.size(), 1U);
  EXPECT_EQ(result->screened.front().variant, variant(1, 1));
  EXPECT_GT(result->screened.front().time_s, result->answer->best().time_s);
  EXPECT_GT(result->screened.front().ratio_to_baseline, 0.5);
  for (const auto& round : device.rounds[Stage::kFinal]) EXPECT_THAT(round, Not(Contains("A=1,B=1")));
}

TEST(Bench, TheFastestGetsRoundsHoweverSlowItIs) {
  TestBench bench;
  bench.request.slowest_in_rounds = 0.01;
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->ranking.size(), 1U);
  EXPECT_EQ(result->screened.size(), 1U);
}

TEST(Bench, RunsExactlyTheRoundsAskedForWithBothBaselines) {
  TestBench bench;
  bench.request.variants = {variant(4, 3), variant(6, 3)};  // alike: a search's final would add rounds
  bench.request.rounds = 9;
  auto device = bench.search.device();
  device.noise = 0.02;
  ASSERT_TRUE(bench.run(device));
  ASSERT_EQ(device.rounds[Stage::kFinal].size(), 9U);
  for (const auto& round : device.rounds[Stage::kFinal]) {
    EXPECT_THAT(round, testing::UnorderedElementsAre("A=4,B=3", "A=6,B=3", "ref0", "ref1"));
  }
  EXPECT_TRUE(device.rounds[Stage::kRace].empty());
  EXPECT_FALSE(device.rounds[Stage::kFloor].empty());
  ASSERT_EQ(bench.search.store.rounds[Stage::kFinal].size(), 1U);
  EXPECT_EQ(bench.search.store.rounds[Stage::kFinal].front().size(), 4U);
}

TEST(Bench, AppendsButReplacesNoAnswer) {
  TestBench bench;
  auto searching = bench.search.device();
  const auto found = bench.search.run(searching);
  ASSERT_TRUE(found && found->answer);
  bench.request.variants = {variant(1, 1)};
  bench.search.options.command_line = "pgtune bench";
  auto device = bench.search.device();
  ASSERT_TRUE(bench.run(device));
  EXPECT_EQ(bench.search.store.sessions, 2);
  EXPECT_EQ(bench.search.store.baselines, 2);
  EXPECT_EQ(bench.search.store.last_kind, SessionKind::kBench);
  EXPECT_EQ(bench.search.store.last_command_line, "pgtune bench");
  EXPECT_EQ(bench.search.store.saved_trials.back(), "A=1,B=1");
  ASSERT_TRUE(bench.search.store.finished.back());
  EXPECT_EQ(bench.search.store.finished.back()->best().variant, variant(1, 1));
  auto again = bench.search.device();
  const auto stored = bench.search.run(again);
  ASSERT_TRUE(stored && stored->answer);
  EXPECT_TRUE(stored->from_store);
  EXPECT_EQ(stored->answer->best().variant.key(), kBestKey);
}

TEST(Bench, AWrongResultIsSeenAndTheOthersAreMeasured) {
  TestBench bench;
  bench.search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey) script.trial = {OutcomeKind::kWrongResult, "element (3,4)"};
  });
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  ASSERT_EQ(result->failed.size(), 1U);
  EXPECT_EQ(result->failed[0].first.key(), kBestKey);
  EXPECT_EQ(result->failed[0].second, (Outcome{OutcomeKind::kWrongResult, "element (3,4)"}));
  EXPECT_EQ(result->answer->ranking.size(), 1U);
  EXPECT_THAT(device.rounds[Stage::kFinal].front(), Not(Contains(kBestKey)));
}

TEST(Bench, WhatFailsInARoundIsOut) {
  TestBench bench;
  bench.search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey) script.fails_in_round = 3;
  });
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  ASSERT_EQ(result->failed.size(), 1U);
  EXPECT_EQ(result->failed[0].second.kind, OutcomeKind::kWrongResult);
  EXPECT_EQ(result->answer->best().variant, variant(1, 1));
}

TEST(Bench, NothingMeasurableIsAResultWithReasonsAndFinishesTheSession) {
  TestBench bench;
  bench.search.plan = plain_but([](const Variant&, Script& script) {
    script.build = {OutcomeKind::kCompileFailed, "no such register"};
  });
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->answer);
  ASSERT_EQ(result->failed.size(), 2U);
  EXPECT_EQ(result->failed[0].second.kind, OutcomeKind::kCompileFailed);
  ASSERT_EQ(bench.search.store.finished.size(), 1U);
  EXPECT_FALSE(bench.search.store.finished[0]);
}

TEST(Bench, VariantsTheProblemForbidsAreNamedAndNotTried) {
  TestBench bench;
  bench.search.definition = test_template({"A > 1"});
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  ASSERT_EQ(result->failed.size(), 1U);
  EXPECT_EQ(result->failed[0].first, variant(1, 1));
  EXPECT_EQ(result->failed[0].second, (Outcome{OutcomeKind::kInvalid, "because of A > 1"}));
  EXPECT_THAT(device.builds, Not(Contains("A=1,B=1")));

  bench.request.variants = {variant(1, 1)};
  const int sessions = bench.search.store.sessions;
  const auto none = bench.run(device);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->answer);
  EXPECT_EQ(none->failed.size(), 1U);
  EXPECT_EQ(bench.search.store.sessions, sessions) << "a session of nothing";
}

TEST(Bench, AVariantNamedTwiceIsMeasuredOnce) {
  TestBench bench;
  bench.request.variants = {variant(5, 3), variant(5, 3)};
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->ranking.size(), 1U);
  EXPECT_EQ(device.trials.size(), 1U);
}

TEST(Bench, RefusesWhatCannotWork) {
  TestBench bench;
  auto device = bench.search.device();
  bench.request.rounds = 5;
  EXPECT_THAT(bench.run(device).error().text(), HasSubstr("use 6 or more"));
  bench.request.rounds = 6;
  bench.request.variants = {variant(9, 1)};
  EXPECT_EQ(bench.run(device).error().kind, ErrorKind::kUsage);
  bench.request.variants = {};
  EXPECT_THAT(bench.run(device).error().text(), HasSubstr("no variant"));
  EXPECT_EQ(bench.search.store.sessions, 0);
}

TEST(Bench, ABudgetOrObjectiveOfASearchChangesNothing) {
  TestBench bench;
  bench.search.options.budget.seconds = 0.5;
  bench.search.options.budget.trials = 1;
  bench.search.options.objective = Objective::kEnergy;
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->ranking.size(), 2U);
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 12U);
  EXPECT_EQ(result->answer->objective, Objective::kTime);
  EXPECT_THAT(device.energy_requests, IsEmpty());
}

TEST(Bench, EnergyOnRequest) {
  TestBench bench;
  bench.request.measure_energy = true;
  auto device = bench.search.device();
  device.energy = [](const protocol::EnergyRequest& request) -> Result<EnergyWindow> {
    EnergyWindow window;
    window.window_s = 5;
    window.energy_j = 1000;
    if (request.contender) window.per_launch_s = algorithm_of(*request.contender) != nullptr ? 2e-3 : 1e-3;
    return window;
  };
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  for (const RankedVariant& row : result->answer->ranking) {
    ASSERT_TRUE(row.energy);
    EXPECT_DOUBLE_EQ(row.energy->energy_j, 0.2);
    EXPECT_DOUBLE_EQ(row.energy->ratio_to_baseline, 2);
  }
  EXPECT_TRUE(find(*result, variant(5, 3))->pareto);
  EXPECT_FALSE(find(*result, variant(1, 1))->pareto) << "no leaner and slower";
  ASSERT_TRUE(result->answer->baseline_energy);
  EXPECT_EQ(result->answer->idle_power_w, 200);
  EXPECT_EQ(bench.search.store.energy.size(), 1U + 4 + 2 * 3);

  auto without_counter = bench.search.device();
  const auto without = bench.run(without_counter);
  ASSERT_TRUE(without && without->answer);
  EXPECT_THAT(without->answer->notes, Contains(HasSubstr("energy was not measured")));
}

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

TEST(BenchAgain, WhatWasCheckedBeforeAStopHasNotFailed) {
  TestBench bench;
  auto device = bench.search.device();
  device.after_trial = [&] { bench.search.stop = true; };
  const auto result = bench.run(device);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_FALSE(device.trials.empty());
  EXPECT_THAT(result->failed, IsEmpty());
}

TEST(Bench, WhoFailsTheVerificationIsOutAndTheNextIsVerified) {
  TestBench bench;
  bench.search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey) script.verified = {OutcomeKind::kWrongResult, "wrong with other data"};
  });
  auto device = bench.search.device();
  const auto result = bench.run(device);
  ASSERT_TRUE(result && result->answer);
  ASSERT_EQ(result->failed.size(), 1U);
  EXPECT_EQ(result->failed[0].first.key(), kBestKey);
  EXPECT_EQ(result->answer->best().variant, variant(1, 1));
  ASSERT_FALSE(device.verify_requests.empty());
  EXPECT_EQ(device.verify_requests.back().built.variant, variant(1, 1));
}

TEST(BenchAgain, AStopDuringTheFloorEndsIt) {
  TestBench bench;
  auto device = bench.search.device();
  device.after_round = [&](Stage /*stage*/) { bench.search.stop = true; };
  const auto result = bench.run(device);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_FALSE(result->answer);
  EXPECT_THAT(result->failed, IsEmpty()) << "no variant failed";
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

  bench.search.plan = plain_but([](const Variant&, Script& script) { script.time_s *= 1.05; });
  auto slower = bench.search.device();
  const auto changed = bench.run(slower);
  ASSERT_TRUE(changed && changed->answer);
  EXPECT_EQ(held(stored, *find(*changed, stored.variant), changed->answer->floor.margin).held, Held::kSlower);
}

}  // namespace
}  // namespace pgtune::session
