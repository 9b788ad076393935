// SPDX-License-Identifier: MIT
// Searches with a budget of trials or of seconds.
#include <gtest/gtest.h>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

TEST(TrialBudget, TriesThatManyThenRunsTheFinal) {
  TestSearch search;
  search.options.budget.trials = 10;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(device.trials.size(), 10U);
  EXPECT_TRUE(result->budget_reached);
  EXPECT_FALSE(result->interrupted);
  EXPECT_TRUE(result->answer->from_final);
  EXPECT_FALSE(result->answer->complete);
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 24U);
  EXPECT_EQ(search.progress.back().total, 10);
}

TEST(TrialBudget, IsMetByAnEarlierSessionOfThatSize) {
  TestSearch search;
  search.options.budget.trials = 10;
  auto first = search.device();
  ASSERT_TRUE(search.run(first));
  auto again = search.device();
  const auto from_store = search.run(again);
  ASSERT_TRUE(from_store);
  EXPECT_TRUE(from_store->from_store);
  search.options.budget.trials = 25;
  auto more = search.device();
  const auto result = search.run(more);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->from_store);
  EXPECT_EQ(more.trials.size(), 15U) << "what is known counts towards the budget";
}

TEST(TrialBudget, LargerThanTheSpaceIsNoLimit) {
  TestSearch search;
  search.options.budget.trials = 1000;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_FALSE(result->budget_reached);
  EXPECT_TRUE(result->answer->complete);
}

TEST(TrialBudget, FailuresCountAsTries) {
  TestSearch search;
  search.options.budget.trials = 10;
  search.plan = [](const Variant& variant) {
    Script script = plain_script(variant);
    script.build = {OutcomeKind::kCompileFailed, "no"};
    return script;
  };
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result);
  EXPECT_EQ(device.builds.size(), 10U);
  EXPECT_FALSE(result->answer);
}

TEST(TimeBudget, StopsInTimeForTheFinal) {
  TestSearch search;
  search.options.budget.seconds = 20;
  auto device = search.device();
  device.trial_s = 0.8;  // the whole space would take 32 s
  device.round_s = 0.3;
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(result->budget_reached);
  EXPECT_TRUE(result->answer->from_final);
  EXPECT_FALSE(result->answer->complete);
  EXPECT_LE(result->elapsed_s, 20);
  EXPECT_GE(device.trials.size(), 10U);
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 24U);
}

TEST(TimeBudget, ShortensALongFinalToWhatAnIntervalNeeds) {
  TestSearch search;
  search.options.budget.seconds = 4;
  auto device = search.device();
  device.trial_s = 0.5;
  device.round_s = 0.3;
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 6U);
  EXPECT_TRUE(result->answer->from_final);
}

TEST(TimeBudget, ALaterSearchGoesOnWhereItEnded) {
  TestSearch search;
  search.options.budget.seconds = 20;
  auto first = search.device();
  first.trial_s = 1;
  ASSERT_TRUE(search.run(first));
  search.options.budget.seconds.reset();
  auto second = search.device();
  const auto result = search.run(second);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(first.trials.size() + second.trials.size(), static_cast<std::size_t>(kSpace));
  EXPECT_TRUE(result->answer->complete);
  EXPECT_EQ(result->answer->best.variant.key(), kBestKey);
}

}  // namespace
}  // namespace pgtune::session
