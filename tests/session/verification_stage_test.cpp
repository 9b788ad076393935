// SPDX-License-Identifier: MIT
// Finalists are checked again after the final, and whoever fails is out of the answer.
#include "tuner/session/rounds/verification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

const Outcome kWrong{OutcomeKind::kWrongResult, "wrong with other data"};

/// The script of one variant gets another outcome of its verification.
void fail_verified(TestSearch& search, const std::string& key, const Outcome& outcome = kWrong) {
  search.plan = plain_but([key, outcome](const Variant& variant, Script& script) {
    if (variant.key() == key) script.verified = outcome;
  });
}

TEST(Verification, FindsAFaultOfOneLaunchInFifty) {
  EXPECT_EQ(launches_that_find(0.02, 0.999), 342);
  EXPECT_LT(std::pow(0.98, 342), 0.001);
  EXPECT_GT(std::pow(0.98, 341), 0.001);
}

TEST(Verification, OfTheWinnerFirstOnOtherDataAndWhatWasDoneIsTold) {
  TestSearch search;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  ASSERT_FALSE(device.verify_requests.empty());
  EXPECT_EQ(device.verify_requests.front().built.variant.key(), kBestKey);
  EXPECT_NE(device.verify_requests.front().built.build.cubin_hash, "");
  for (const protocol::VerifyRequest& request : device.verify_requests) {
    EXPECT_EQ(request.launches, 342);
    EXPECT_NE(request.data_seed, search.options.conditions.data_seed);
    EXPECT_GT(request.launch_s, 0);
  }
  // 342 launches of a millisecond are a third of a second.
  EXPECT_EQ(device.verify_requests.size(), 2U);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("the winner, and 1 of the other 7 finalists; 342 launches")));
}

TEST(Verification, ItsTimeIsKeptAndToldWhereItIsLong) {
  TestSearch search;
  auto quick = search.device();
  const auto short_one = search.run(quick);
  ASSERT_TRUE(short_one && short_one->answer);
  EXPECT_NEAR(short_one->answer->stages.verify_s, 342 * (1 + 1.1) * 1e-3, 0.02);
  EXPECT_THAT(short_one->answer->notes, Not(Contains(HasSubstr("that took"))));

  TestSearch slow;
  slow.plan = plain_but([](const Variant&, Script& script) { script.time_s *= 10; });
  auto device = slow.device();
  const auto result = slow.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_NEAR(result->answer->stages.verify_s, 342 * 10e-3, 0.05);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("; that took 3.4 s")));
}

/// Launches that verified the winner of a search whose final has used up its budget, and how many were verified.
struct OverBudget {
  std::int64_t launches = 0;
  std::size_t verified = 0;
};
OverBudget verified_over_budget(double times) {
  TestSearch search;
  search.options.budget.seconds = 0.2 * times;
  search.plan = plain_but([times](const Variant&, Script& script) { script.time_s *= times; });
  auto device = search.device();
  const auto result = search.run(device);
  EXPECT_TRUE(result && result->answer && result->answer->from_final);
  if (device.verify_requests.empty()) return {};
  return {device.verify_requests.front().launches, device.verify_requests.size()};
}

TEST(Verification, OfTheWinnerIsWholeThoughTheBudgetIsUsedUpWhereItTakesLessThanHalfASecond) {
  const OverBudget quick = verified_over_budget(1), slow = verified_over_budget(10);
  EXPECT_EQ(quick.launches, 342) << "of a millisecond";
  EXPECT_EQ(quick.verified, 1U) << "for others there is no time";
  EXPECT_NEAR(static_cast<double>(slow.launches), 50, 1) << "of ten milliseconds";
}

TEST(Verification, WhatAWinnerHadCutIsFoundWhenItFails) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    // The default, which is tried first.
    if (variant.key() == "A=1,B=1") {
      script.time_s = 1e-4;
      script.verified = kWrong;
    }
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(search.progress.back().cut, kSpace - 1) << "all others are several times slower";
  EXPECT_TRUE(result->answer->from_final);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
  EXPECT_GT(result->answer->ranking.size(), 1U);
}

TEST(Verification, AWinnerThatFailsIsOutAndTheNextTakesItsPlace) {
  TestSearch search;
  fail_verified(search, kBestKey);
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  for (const RankedVariant& row : result->answer->ranking) EXPECT_NE(row.variant.key(), kBestKey);
  EXPECT_EQ(result->answer->ranking.size(), 7U);
  EXPECT_TRUE(result->answer->complete && result->answer->from_final);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kWrongResult), 1);
  EXPECT_EQ(search.store.saved_trials.back(), kBestKey);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr(" is out: wrong with other data")));
  EXPECT_EQ(device.verify_requests.at(1).built.variant.key(), result->answer->best().variant.key());
}

TEST(Verification, OneThatCrashesIsOutLikewise) {
  TestSearch search;
  fail_verified(search, kBestKey, {OutcomeKind::kCrashed, "illegal address"});
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_NE(result->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kCrashed), 1);
}

TEST(Verification, WhereNobodyIsLeftTheNextBestHaveAFinal) {
  TestSearch search;
  search.options.finalists = 2;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (parameter(variant, "B") == 3) script.verified = kWrong;
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_NE(parameter(result->answer->best().variant, "B"), 3);
  EXPECT_TRUE(result->answer->from_final);
}

TEST(Verification, OneThatIsNotDeterministicIsNamed) {
  TestSearch search;
  search.plan =
      plain_but([](const Variant& variant, Script& script) { script.deterministic = variant.key() != kBestKey; });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr(std::string(kBestKey) + " is not deterministic")));
}

TEST(Verification, OfEverybodyWhereEnergyDecides) {
  TestSearch search;
  search.options.objective = Objective::kEnergy;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  EXPECT_EQ(device.verify_requests.size(), 8U);
}

}  // namespace
}  // namespace pgtune::session
