// SPDX-License-Identifier: MIT
// Searches that were interrupted, and what the next one makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

/// Fails for some variants, so that resuming has failures to remember.
void mixed(const Variant& variant, Script& script) {
  if (parameter(variant, "A") == 3) script.trial = {OutcomeKind::kCrashed, "illegal address"};
  if (parameter(variant, "A") == 4) script.build = {OutcomeKind::kTimeout, "compiler hung"};
}

void interrupt_after_trials(TestSearch& search, FakeDevice& device, std::size_t count) {
  device.after_trial = [&search, &device, count] {
    if (device.trials.size() == count) search.stop = true;
  };
}

/// What was found right in a screening, without what was cut.
std::vector<std::string> right_and_whole(const std::map<std::string, StoredTrial>& trials) {
  std::vector<std::string> ids;
  for (const auto& [id, trial] : trials) {
    if (trial.report.outcome.kind == OutcomeKind::kOk && !trial.report.cut) ids.push_back(id);
  }
  return ids;
}

TEST(Interrupt, FinishesTheTrialInFlightAndReturnsAPartialAnswer) {
  TestSearch search;
  auto device = search.device();
  interrupt_after_trials(search, device, 12);
  const auto result = search.run(device);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(device.trials.size(), 12U);
  EXPECT_EQ(search.store.saved_trials.size(), 12U);
  EXPECT_TRUE(device.rounds[Stage::kFinal].empty()) << "no final";
  ASSERT_TRUE(result->answer);
  EXPECT_FALSE(result->answer->complete);
  EXPECT_FALSE(result->answer->from_final);
  EXPECT_EQ(result->answer->in_graphs, std::nullopt) << "no round's launches tell";
  EXPECT_NEAR(result->answer->best().ratio_to_baseline, 1.1e-3 / result->answer->best().time_s, 1e-9);
  EXPECT_LE(result->answer->best().ratio_low, result->answer->best().ratio_to_baseline);
  EXPECT_EQ(search.store.finished.size(), 1U);
}

TEST(Interrupt, BeforeAnythingWasMeasuredThereIsNoAnswer) {
  TestSearch search;
  search.stop = true;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_FALSE(result->answer);
  EXPECT_TRUE(device.builds.empty());
}

TEST(Resume, RepeatsNoTrialAndEndsLikeAnUninterruptedSearch) {
  TestSearch straight, search;
  straight.plan = search.plan = plain_but(mixed);
  auto baseline_device = straight.device();
  const auto expected = straight.run(baseline_device);

  auto first = search.device();
  interrupt_after_trials(search, first, 15);
  ASSERT_TRUE(search.run(first));
  const std::size_t known = search.store.saved_trials.size();
  search.stop = false;
  auto second = search.device();
  const auto result = search.run(second);
  ASSERT_TRUE(expected && result && expected->answer && result->answer);

  std::set<std::string> once(first.trials.begin(), first.trials.end());
  for (const std::string& key : second.trials) EXPECT_TRUE(once.insert(key).second) << key << " tried twice";
  EXPECT_EQ(search.store.saved_trials.size(), static_cast<std::size_t>(kSpace));
  EXPECT_EQ(search.progress.back().resumed, static_cast<std::int64_t>(known));
  EXPECT_TRUE(result->answer->complete);
  EXPECT_FALSE(result->interrupted);
  EXPECT_EQ(result->answer->best().variant, expected->answer->best().variant);
  EXPECT_EQ(result->counts.measured, expected->counts.measured);
  EXPECT_EQ(result->counts.compiled, expected->counts.compiled);
  EXPECT_EQ(result->counts.failed, expected->counts.failed);
}

TEST(Resume, GoesOnAfterTheDeviceDied) {
  TestSearch search;
  auto first = search.device();
  first.dies_after_trials = 10;
  const auto failed = search.run(first);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(failed.error().text(), "searching 256x256x256 f32 nn: no worker can be started");
  EXPECT_TRUE(search.store.finished.empty()) << "the session stays open, its trials are kept";
  auto second = search.device();
  const auto result = search.run(second);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(second.trials.size(), static_cast<std::size_t>(kSpace) - 10);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
}

TEST(Resume, TimesInGraphsAndOneByOneAreNotCompared) {
  const auto tried_again = [](double slower, bool graphs_before, bool graphs_now) {
    TestSearch search;
    search.plan = plain_but([&](const Variant&, Script& script) { script.time_s *= slower; });
    auto first = search.device();
    first.baseline.in_graphs = graphs_before;
    interrupt_after_trials(search, first, 15);
    EXPECT_TRUE(search.run(first));
    const auto known = search.store.trials({search.problem, search.definition, first.device_info});
    search.stop = false;
    auto second = search.device();
    second.baseline.in_graphs = graphs_now;
    EXPECT_TRUE(search.run(second));
    const auto again = std::count_if(second.trials.begin(), second.trials.end(), [&](const std::string& key) {
      return std::find(first.trials.begin(), first.trials.end(), key) != first.trials.end();
    });
    EXPECT_EQ(search.progress.back().resumed, std::ssize(known) - again);
    return std::pair{again, std::ssize(right_and_whole(known))};
  };
  for (const bool graphs : {false, true}) {
    EXPECT_EQ(tried_again(0.02, graphs, graphs).first, 0);
    const auto [again, right] = tried_again(0.02, graphs, !graphs);
    EXPECT_EQ(again, right);
    EXPECT_GT(right, 0);
  }
  EXPECT_EQ(tried_again(1, false, true).first, 0) << "long launches are in no graphs";
}

TEST(Resume, FinalistsFromAnEarlierSessionAreBuiltAgainForTheFinal) {
  TestSearch search;
  auto first = search.device();
  first.after_round = [&](Stage stage) { search.stop = stage == Stage::kFinal; };  // every trial is done
  const auto partial = search.run(first);
  ASSERT_TRUE(partial && partial->answer);
  EXPECT_TRUE(partial->interrupted);
  EXPECT_FALSE(partial->answer->complete);
  search.stop = false;
  auto second = search.device();
  const auto result = search.run(second);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(second.trials.empty());
  EXPECT_GT(partial->answer->stages.screen_s, 0);
  EXPECT_EQ(result->answer->stages.screen_s, 0) << "an earlier session's is not counted again";
  EXPECT_EQ(second.builds.size(), static_cast<std::size_t>(search.options.finalists));
  EXPECT_EQ(second.rounds[Stage::kFinal].size(), static_cast<std::size_t>(search.options.final_rounds));
  EXPECT_TRUE(result->answer->complete);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
}

TEST(Resume, AFinalistThatNoLongerBuildsIsReplacedByItsFailure) {
  TestSearch search;
  auto first = search.device();
  first.after_round = [&](Stage stage) { search.stop = stage == Stage::kFinal; };
  ASSERT_TRUE(search.run(first));
  search.stop = false;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey) script.build = {OutcomeKind::kCompileFailed, "header is gone"};
  });
  auto second = search.device();
  const auto result = search.run(second);
  ASSERT_TRUE(result && result->answer);
  EXPECT_NE(result->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kCompileFailed), 1);
  EXPECT_EQ(search.store.saved_trials.back(), kBestKey);
}

/// A device of the same class.
FakeDevice other_board(const TestSearch& search) {
  FakeDevice device = search.device();
  device.device_info.uuid = "GPU-other";
  return device;
}

TEST(OtherBoard, IsAnsweredUnlessItAsksForItself) {
  TestSearch search;
  auto first = search.device();
  ASSERT_TRUE(search.run(first));
  auto second = other_board(search);
  auto answered = search.run(second);
  ASSERT_TRUE(answered && answered->answer);
  EXPECT_TRUE(answered->from_store);
  EXPECT_EQ(answered->answer->board, first.device_info.uuid);
  EXPECT_TRUE(second.trials.empty());

  search.options.this_board = true;
  answered = search.run(second);
  ASSERT_TRUE(answered && answered->answer);
  EXPECT_FALSE(answered->from_store);
  EXPECT_EQ(answered->answer->board, "GPU-other");
  EXPECT_TRUE(answered->answer->complete);

  for (const bool this_board : {false, true}) {
    search.options.this_board = this_board;
    for (FakeDevice* const device : {&first, &second}) {
      answered = search.run(*device);
      ASSERT_TRUE(answered && answered->answer);
      EXPECT_TRUE(answered->from_store);
      EXPECT_EQ(answered->answer->board, device->device_info.uuid) << "its own, though the other's be newer";
    }
  }
}

TEST(OtherBoard, TakesOverFailuresAndTriesAgainWhatWasRight) {
  TestSearch search;
  search.plan = plain_but(mixed);
  auto first = search.device();
  ASSERT_TRUE(search.run(first));
  const auto known = search.store.trials({search.problem, search.definition, first.device_info});
  search.options.this_board = true;
  auto second = other_board(search);
  const auto result = search.run(second);
  ASSERT_TRUE(result && result->answer);
  const std::vector<std::string> again = right_and_whole(known);
  EXPECT_EQ(second.trials.size(), again.size());
  for (const std::string& key : second.trials) {
    EXPECT_TRUE(std::any_of(again.begin(), again.end(), [&](const std::string& id) { return id.ends_with(key); }))
        << key << " failed or was cut on the first board";
  }
  ASSERT_FALSE(second.trials.empty());
  EXPECT_EQ(second.trials.front(), kBestKey) << "what was fastest there comes first";
  EXPECT_EQ(result->counts.failed,
            (std::map<OutcomeKind, std::int64_t>{{OutcomeKind::kCrashed, 5}, {OutcomeKind::kTimeout, 5}}));
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
}

TEST(OtherBoard, WhatItsHardwareFailedInIsTriedAgain) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey) script.trial = {OutcomeKind::kCrashed, "cudaErrorECCUncorrectable"};
  });
  auto first = search.device();
  ASSERT_TRUE(search.run(first));
  search.plan = plain_script;
  search.options.this_board = true;
  auto second = other_board(search);
  const auto result = search.run(second);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
}

TEST(OtherBoard, OfAnotherClassKnowsNothing) {
  TestSearch search;
  auto first = search.device();
  ASSERT_TRUE(search.run(first));
  auto second = other_board(search);
  second.device_info.power_limit_w = 500;
  const auto result = search.run(second);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->from_store);
  EXPECT_EQ(second.trials.size(), first.trials.size());
}

}  // namespace
}  // namespace pgtune::session
