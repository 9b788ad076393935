// SPDX-License-Identifier: MIT
// Builds that are under way before the GPU has time for a variant: while ceilings, steady run and floor are measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "powered_search.hpp"
#include "test_search.hpp"
#include "tuner/search/strategies.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::session {
namespace {

using testing::Each;

bool is_before_screening(Stage stage) { return stage == Stage::kSteady || stage == Stage::kFloor; }

/// At most ten seconds, of which a test that passes takes none.
bool comes_true(const std::atomic<bool>& flag) {
  for (int i = 0; i < 2000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return flag;
}

TEST(EarlyBuilds, AreAskedForBeforeTheGpuMeasuresAnything) {
  TestSearch search;
  auto device = search.device();
  std::size_t at_ceilings = 0, at_steady_run = 0;
  device.after_round = [&](Stage stage) {
    if (stage == Stage::kSteady) at_steady_run = device.builds.size();
  };
  const auto progress = [&](const Progress& update) {
    if (update.phase == Progress::Phase::kCeilings) at_ceilings = device.builds.size();
  };
  ASSERT_TRUE(run_search(search.problem, search.definition, device, search.store, search.options, search.stop, progress,
                         search.clock(device)));
  EXPECT_EQ(device.ceilings_measured, 1);
  EXPECT_EQ(at_ceilings, device.slots);
  EXPECT_EQ(at_steady_run, 2 * device.slots) << "as many again, since the first are built";
}

TEST(EarlyBuilds, AreBoundedAndNothingIsTriedBeforeTheFloorIsKnown) {
  TestSearch search;
  auto device = search.device();
  device.slots = 2;
  std::size_t most = 0;
  std::vector<std::size_t> tried;
  device.after_round = [&](Stage stage) {
    if (!is_before_screening(stage)) return;
    most = std::max(most, device.builds.size());
    tried.push_back(device.trials.size());
  };
  ASSERT_TRUE(search.run(device));
  EXPECT_LE(most, 4 * device.slots);
  EXPECT_GT(tried.size(), 1U);
  EXPECT_THAT(tried, Each(0U));
}

TEST(EarlyBuilds, ComeInTheStrategysOrder) {
  TestSearch search;
  search.options.strategy = "random";
  search.options.seed = 7;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  const auto variants =
      space::legal_variants(space::TemplateSet(search.definition), search.problem, device.info()).value().variants;
  const search::SearchSpace space{variants, {variants.size()}, {}, {}};
  const auto strategy = search::make_strategy("random", space, 7).value();
  std::vector<std::string> order;
  while (const auto index = strategy->next()) order.push_back(variants[*index].key());
  // The rounds' own builds follow.
  EXPECT_EQ(std::vector<std::string>(device.builds.begin(), device.builds.begin() + kSpace), order);
}

TEST(EarlyBuilds, WaitForTheGpuAtThePowerCapSoThatAShortBudgetTriesSeveral) {
  PoweredSearch powered(load_at_the_cap);
  powered.search.options.budget.seconds = 6;  // of which the steady run takes 0.9
  FakeDevice device([](const Variant&) {
    Script script;
    script.time_s = kAlone_s;
    script.build_s = 0.7;
    return script;
  });
  device.powered = powered.device.powered;
  device.baseline = powered.device.baseline;
  double begun_s = 0, first_tried_s = 0;
  device.after_round = [&](Stage stage) {
    if (stage == Stage::kSteady) begun_s = device.now_s;
  };
  device.after_trial = [&] {
    if (first_tried_s == 0) first_tried_s = device.now_s;
  };
  const auto result = powered.search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->sampling, Sampling::kSettled);
  EXPECT_GT(begun_s, 0.7) << "time enough to build in";
  EXPECT_LT(first_tried_s - begun_s, 0.1);
  EXPECT_GE(device.trials.size(), device.slots);
}

TEST(EarlyBuilds, DoNotCountAsSlowInWhatIsExpectedToRemain) {
  TestSearch search;
  auto device = search.device();
  device.round_s = 10;  // the floor takes minutes, in which all that was asked for is built
  device.trial_s = 0.3;
  ASSERT_TRUE(search.run(device));
  std::size_t told = 0;
  for (const Progress& update : search.progress) {
    if (update.phase != Progress::Phase::kSearch || !update.remaining_s) continue;
    ++told;
    EXPECT_LT(*update.remaining_s, 40);  // 12 s of trials, race and final
  }
  EXPECT_GT(told, 0U);
}

TEST(EarlyBuilds, AreLeftAloneWhereAStopEndsTheSearchBeforeItsScreening) {
  TestSearch search;
  search.plan = plain_but([](const Variant&, Script& script) { script.build_s = 1; });
  auto first = search.device();
  first.after_round = [&](Stage) { search.stop = true; };
  const auto result = search.run(first);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(first.builds.size(), first.slots);
  EXPECT_TRUE(first.trials.empty());
  EXPECT_TRUE(search.store.saved_trials.empty());
  search.stop = false;
  auto second = search.device();
  const auto whole = search.run(second);
  ASSERT_TRUE(whole && whole->answer);
  EXPECT_TRUE(whole->answer->complete);
}

TEST(EarlyBuilds, OfAResumedSearchAreOfWhatIsNotKnown) {
  TestSearch search;
  search.options.budget.trials = 10;
  auto first = search.device();
  ASSERT_TRUE(search.run(first));
  search.options.budget.trials = 25;
  auto second = search.device();
  std::vector<std::string> early;
  second.after_round = [&](Stage stage) {
    if (is_before_screening(stage)) early = second.builds;
  };
  ASSERT_TRUE(search.run(second));
  EXPECT_FALSE(early.empty());
  for (const std::string& key : early) EXPECT_THAT(first.trials, testing::Not(testing::Contains(key)));
  EXPECT_EQ(second.trials.size(), 15U);
}

TEST(EarlyBuilds, AModelIsFittedWhileTheGpuMeasures) {
  TestSearch search;
  search.options.strategy = "model";
  std::atomic<bool> asked{false};
  search.options.predictor = [&](const Problem&, const DeviceInfo&) -> std::shared_ptr<const search::Predictor> {
    asked = true;
    return nullptr;
  };
  auto device = search.device();
  device.after_round = [&](Stage stage) {
    if (stage != Stage::kSteady) return;
    EXPECT_TRUE(comes_true(asked));
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(device.trials.size(), static_cast<std::size_t>(kSpace));
}

TEST(EarlyBuilds, WhatAFitThrowsReachesTheCaller) {
  TestSearch search;
  search.options.strategy = "model";
  search.options.predictor = [](const Problem&, const DeviceInfo&) -> std::shared_ptr<const search::Predictor> {
    throw std::runtime_error("the database is damaged");
  };
  auto device = search.device();
  EXPECT_THROW((void)search.run(device), std::runtime_error);
}

TEST(EarlyBuilds, AStopDuringAFitEndsTheSearchOnceItIsFitted) {
  TestSearch search;
  search.options.strategy = "model";
  search.options.predictor = [&](const Problem&, const DeviceInfo&) -> std::shared_ptr<const search::Predictor> {
    EXPECT_TRUE(comes_true(search.stop));
    return nullptr;
  };
  auto device = search.device();
  device.after_round = [&](Stage) { search.stop = true; };
  const auto result = search.run(device);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_TRUE(device.builds.empty());
}

}  // namespace
}  // namespace pgtune::session
