// SPDX-License-Identifier: MIT
// Searches with a budget of trials or of seconds.
#include <gtest/gtest.h>

#include "test_search.hpp"
#include "tuner/session/answer/answered.hpp"

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

TEST(AnsweredAlready, IsWhatASearchWouldReturnUnderTheSameOptions) {
  TestSearch search;
  search.options.budget.trials = 10;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  const StoreKey key{search.problem, search.definition, device.info(), search.options.conditions};
  const auto answered = [&](const SessionOptions& options) {
    return answered_already(search.store, key, options).has_value();
  };
  EXPECT_TRUE(answered(search.options)) << "though the space was not tried whole";
  SessionOptions more = search.options, whole = search.options, forced = search.options;
  more.budget.trials = 11;
  whole.budget = {};
  forced.force = true;
  EXPECT_FALSE(answered(more));
  EXPECT_FALSE(answered(whole));
  EXPECT_FALSE(answered(forced));
  SessionOptions energy = search.options, retry = search.options;
  energy.measure_energy = true;
  retry.retry_failed = true;
  EXPECT_FALSE(answered(energy));
  EXPECT_TRUE(answered(retry)) << "nothing crashed or hung";
}

TEST(AnsweredAlready, NotWhereSomethingIsToBeRetried) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == "A=1,B=1") script.trial = {OutcomeKind::kCrashed, "fell"};
  });
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  const StoreKey key{search.problem, search.definition, device.info(), search.options.conditions};
  EXPECT_TRUE(answered_already(search.store, key, search.options));
  search.options.retry_failed = true;
  EXPECT_FALSE(answered_already(search.store, key, search.options));
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
  search.plan = plain_but([](const Variant&, Script& script) { script.build = {OutcomeKind::kCompileFailed, "no"}; });
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

TEST(TimeBudget, TriesEightHoweverLittleIsLeft) {
  TestSearch search;
  search.options.budget.seconds = 1;
  auto device = search.device();
  device.round_s = 2;  // the steady run takes all of it
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(result->budget_reached);
  EXPECT_EQ(device.trials.size(), 8U);
}

TEST(TimeBudget, FailuresAreAmongTheEight) {
  TestSearch search;
  search.options.budget.seconds = 1;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (parameter(variant, "A") == 1) script.build = {OutcomeKind::kCompileFailed, "no"};
  });
  auto device = search.device();
  device.round_s = 2;
  const auto result = search.run(device);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->counts.measured + result->counts.failed.at(OutcomeKind::kCompileFailed), 8);
}

TEST(TimeBudget, ASpaceOfUpToEightIsTriedWhole) {
  for (const auto& [rule, size] : {std::pair{"A == 1", 5}, std::pair{"A == 1 || A == 2 && B <= 3", 8}}) {
    TestSearch search;
    search.definition = test_template({rule});
    search.options.budget.seconds = 1;
    search.plan = plain_but([](const Variant& variant, Script& script) {
      if (variant.key() != "A=1,B=5") script.trial = {OutcomeKind::kWrongResult, "wrong"};
    });
    auto device = search.device();
    device.round_s = device.trial_s = 2;
    const auto result = search.run(device);
    ASSERT_TRUE(result && result->answer) << rule;
    EXPECT_EQ(device.trials.size(), static_cast<std::size_t>(size));
    EXPECT_EQ(result->answer->best().variant.key(), "A=1,B=5");
    EXPECT_TRUE(result->answer->complete);
  }
}

TEST(TimeBudget, VariantsOfANumberThatWasAskedForAreNotMore) {
  TestSearch search;
  search.options.budget = {.seconds = 1, .trials = 3, .acceptable_miss = {}};
  auto device = search.device();
  device.round_s = 2;
  ASSERT_TRUE(search.run(device));
  EXPECT_EQ(device.trials.size(), 3U);
}

TEST(TimeBudget, FewVariantsAreWorthMoreThanTheRoundsShare) {
  TestSearch search;
  search.options.budget.seconds = 6;
  auto device = search.device();
  device.trial_s = 0.9;
  device.round_s = 0.05;
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_GE(static_cast<double>(device.trials.size()) * device.trial_s, 4.5) << "the whole budget but the noise floor";
  EXPECT_TRUE(result->answer->from_final);
  EXPECT_LE(result->elapsed_s, 9) << "the final comes after it";
}

TEST(TimeBudget, WithoutARightVariantTheRoundsShareGoesToTheSearch) {
  TestSearch search;
  search.plan = plain_but([](const Variant&, Script& script) {
    script.trial = {OutcomeKind::kWrongResult, "element (0,0) is wrong"};
  });
  search.options.budget.seconds = 20;
  auto device = search.device();
  device.trial_s = 0.8;  // the whole space would take 32 s
  const auto result = search.run(device);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->answer);
  EXPECT_GE(static_cast<double>(device.trials.size()) * device.trial_s, 15);
  EXPECT_LE(result->elapsed_s, 21);
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
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
}

}  // namespace
}  // namespace pgtune::session
