// SPDX-License-Identifier: MIT
// The final's rounds as the device sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::Contains;
using testing::Not;

TEST(Final, EveryRoundHoldsAllFinalistsAndBothReferences) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  ASSERT_EQ(device.rounds.size(), 12U);
  for (const auto& round : device.rounds) {
    EXPECT_EQ(round.size(), 10U);
    EXPECT_THAT(round, Contains("ref0").Times(1));
    EXPECT_THAT(round, Contains("ref1").Times(1));
    EXPECT_THAT(round, Contains(kBestKey).Times(1));
  }
}

TEST(Final, OrdersAreBalanced) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  std::map<std::string, std::size_t> positions;
  for (const auto& round : device.rounds) {
    for (std::size_t i = 0; i < round.size(); ++i) positions[round[i]] += i;
  }
  for (const auto& [name, sum] : positions) EXPECT_EQ(sum, 12 * 9 / 2U) << name << "'s mean position is the middle";
}

TEST(Final, OneReferenceWhereTheFirstIsTheBest) {
  TestSearch search;
  auto device = search.device();
  device.reference.best = 0;
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  for (const auto& round : device.rounds) EXPECT_EQ(round.size(), 9U);
  EXPECT_NEAR(result->answer->best.ratio_to_reference, 1.2, 2e-3);
  EXPECT_EQ(result->answer->best.reference_first_s, result->answer->best.reference_best_s);
}

TEST(Final, DriftDoesNotMoveTheRatio) {
  TestSearch search;
  auto device = search.device();
  device.drift_per_round = 0.05;  // the last round is 60 % slower
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best.variant.key(), kBestKey);
  EXPECT_NEAR(result->answer->best.ratio_to_reference, 1.1, 2e-3);
  EXPECT_LT(result->answer->best.ratio_high - result->answer->best.ratio_low, 0.01);
}

TEST(Final, AContenderThatFailsIsOutAndItsFailureStored) {
  TestSearch search;
  search.plan = [](const Variant& variant) {
    Script script = plain_script(variant);
    if (variant.key() == kBestKey) script.fails_in_round = 4;
    return script;
  };
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(device.rounds[3], Contains(kBestKey));
  for (std::size_t i = 4; i < device.rounds.size(); ++i) EXPECT_THAT(device.rounds[i], Not(Contains(kBestKey)));
  EXPECT_NE(result->answer->best.variant.key(), kBestKey);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kWrongResult), 1);
  EXPECT_EQ(result->counts.measured, kSpace - 1);
  EXPECT_EQ(search.store.saved_trials.back(), kBestKey);
  EXPECT_EQ(result->answer->ranking.size(), 7U);
}

TEST(Final, WhenNobodyIsLeftTheNextBestHaveTheirFinal) {
  TestSearch search;
  search.options.finalists = 2;
  search.plan = [](const Variant& variant) {
    Script script = plain_script(variant);
    if (parameter(variant, "B") == 3) script.fails_in_round = 1;
    return script;
  };
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(parameter(result->answer->best.variant, "A"), 5);
  EXPECT_NE(parameter(result->answer->best.variant, "B"), 3);
}

TEST(Final, BlocksAreSavedWithRoundAndPosition) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  ASSERT_EQ(search.store.finals.size(), 1U);
  const auto& saved = search.store.finals.front();
  ASSERT_EQ(saved.size(), 10U);
  EXPECT_EQ(std::count_if(saved.begin(), saved.end(), [](const FinalBlocks& b) { return !b.variant; }), 2);
  for (const FinalBlocks& contender : saved) {
    ASSERT_EQ(contender.blocks.size(), 12U);
    const std::string name =
        contender.variant ? contender.variant->key() : "ref" + std::to_string(contender.reference_algorithm);
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_EQ(contender.blocks[i].round, static_cast<int>(i) + 1);
      EXPECT_EQ(contender.blocks[i].stage, Stage::kFinal);
      EXPECT_EQ(device.rounds[i][static_cast<std::size_t>(contender.blocks[i].position)], name);
    }
  }
}

TEST(Final, CutVariantsAreNoFinalists) {
  TestSearch search;
  search.options.finalists = 100;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  EXPECT_LT(device.rounds.front().size(), 42U);
  EXPECT_EQ(static_cast<std::int64_t>(device.rounds.front().size()), kSpace - search.progress.back().cut + 2);
}

TEST(Final, WorksWithoutAReference) {
  TestSearch search;
  auto device = search.device();
  device.reference.algorithms.clear();
  device.reference.best = 0;
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best.variant.key(), kBestKey);
  EXPECT_EQ(result->answer->best.ratio_to_reference, 0);
}

}  // namespace
}  // namespace pgtune::session
