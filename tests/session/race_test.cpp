// SPDX-License-Identifier: MIT
// The race inside a search: who is in its rounds, what is saved, and how it ends early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test_search.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/verification.hpp"

namespace pgtune::session {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Variants 0.1 % apart: 31 of 40 are within 3 % of the best, which is the last of the space.
Script close_script(const Variant& variant) {
  Script script;
  const auto place = static_cast<double>((parameter(variant, "A") - 1) * 5 + parameter(variant, "B"));  // 1 to 40
  script.time_s = 1e-3 * (1 + 0.001 * (40 - place));
  return script;
}
constexpr const char* kCloseBest = "A=8,B=5";

struct CloseSearch : TestSearch {
  CloseSearch() { plan = close_script; }
};

TEST(Race, NarrowsTheFieldToTheFinalists) {
  CloseSearch search;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  const auto& rounds = device.rounds[Stage::kRace];
  ASSERT_GE(rounds.size(), 3U);
  EXPECT_LT(rounds.size(), 16U);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    EXPECT_TRUE(i >= 3 || rounds[i].size() == 33U) << "nobody leaves before three rounds";
    EXPECT_THAT(rounds[i], AllOf(Contains("ref1").Times(1), Contains(kCloseBest).Times(1), Contains("ref0").Times(1)));
  }
  EXPECT_EQ(device.sample_s[Stage::kRace], 10e-3);
  EXPECT_EQ(device.rounds[Stage::kFinal].front().size(), 10U);
  EXPECT_EQ(result->answer->raced, 31);
  EXPECT_GT(result->answer->stages.race_s, 0);
  EXPECT_GT(result->answer->stages.screen_s, 0);
  EXPECT_GT(result->answer->stages.final_s, 0);
  EXPECT_THAT(result->answer->ties, Not(Contains("A=1,B=1")));
  EXPECT_GE(parameter(result->answer->best().variant, "A"), 8);
}

TEST(Race, IsSavedAndShown) {
  CloseSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  ASSERT_EQ(search.store.rounds[Stage::kRace].size(), 1U);
  const auto& saved = search.store.rounds[Stage::kRace].front();
  EXPECT_EQ(saved.size(), 33U) << "31 variants, and both algorithms of the baseline";
  for (const ContenderSamples& contender : saved) {
    EXPECT_GE(contender.samples.size(), 3U);
    EXPECT_EQ(contender.samples.front().stage, Stage::kRace);
  }
  const auto shown = std::find_if(search.progress.begin(), search.progress.end(),
                                  [](const Progress& update) { return update.phase == Progress::Phase::kRace; });
  ASSERT_NE(shown, search.progress.end());
  EXPECT_EQ(shown->contenders, 31);
  EXPECT_EQ(shown->rounds, 16);
  const auto last = std::next(shown), final = std::next(shown, 2);
  ASSERT_TRUE(last->phase == Progress::Phase::kRace && final->phase == Progress::Phase::kFinal);
  EXPECT_NEAR(last->remaining_s.value(), 0.1 * (16 - last->round) + final->remaining_s.value(), 1e-9);
}

TEST(Race, IsNotNeededForAsManyAsTheFinalTakes) {
  TestSearch search;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(device.rounds[Stage::kRace].empty());
  EXPECT_EQ(result->answer->raced, 0);
  EXPECT_EQ(search.store.rounds.count(Stage::kRace), 0U);
}

TEST(Race, WhoFailsIsOutWithItsFailure) {
  CloseSearch search;
  search.plan = [](const Variant& variant) {
    Script script = close_script(variant);
    script.fails_in = Stage::kRace;
    if (variant.key() == kCloseBest) script.fails_in_round = 2;
    return script;
  };
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(device.rounds[Stage::kRace][1], Contains(kCloseBest));
  EXPECT_THAT(device.rounds[Stage::kRace][2], Not(Contains(kCloseBest)));
  EXPECT_THAT(device.rounds[Stage::kFinal].front(), Not(Contains(kCloseBest)));
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kWrongResult), 1);
}

TEST(Race, HeatThatStaysEndsTheSessionWithAReason) {
  CloseSearch search;
  auto device = search.device();
  device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage == Stage::kRace && request.round > 2) report.samples.front()->thermal_s = 0.01;
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(result->gave_up);
  EXPECT_FALSE(result->interrupted);
  EXPECT_FALSE(result->answer->complete);
  EXPECT_FALSE(result->answer->from_final);
  EXPECT_TRUE(device.rounds[Stage::kFinal].empty());
  EXPECT_EQ(result->answer->voided_rounds, 5);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("ended early: 5 rounds in a row")));
  EXPECT_EQ(search.store.rounds[Stage::kRace].size(), 1U) << "what was measured is kept";
  EXPECT_EQ(search.store.finished.size(), 1U);

  auto cool = search.device();
  const auto again = search.run(cool);
  ASSERT_TRUE(again && again->answer);
  EXPECT_FALSE(again->from_store) << "a partial answer is not an answer";
  EXPECT_TRUE(again->answer->complete);
}

TEST(Race, AnInterruptLeavesTheScreening) {
  CloseSearch search;
  auto device = search.device();
  device.after_round = [&](Stage stage) { search.stop = stage == Stage::kRace; };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(result->interrupted);
  EXPECT_FALSE(result->answer->from_final);
  EXPECT_EQ(device.rounds[Stage::kRace].size(), 1U);
  EXPECT_TRUE(device.rounds[Stage::kFinal].empty());
}

TEST(Race, EndsWhereATimeBudgetNeedsTheRestForTheFinal) {
  CloseSearch search;
  search.options.budget.seconds = 60;
  auto device = search.device();
  device.trial_s = 0.8;  // screening ends at 32 s
  const double round_s = 1.5;
  double raced_s = 0;  // when its last round ended
  device.after_round = [&](Stage stage) {
    if (stage == Stage::kRace) raced_s = device.now_s += round_s;
  };
  search.options.finalists = 1;  // so that the race would go on
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_GE(device.rounds[Stage::kRace].size(), 3U);
  EXPECT_LT(device.rounds[Stage::kRace].size(), 16U);
  EXPECT_TRUE(result->answer->from_final);
  EXPECT_LE(result->elapsed_s, 60 + kWinnerOverBudget_s);
  const double left_s = 60 - raced_s, needed_s = reserved_for_final_s(search.options, 1.1e-3);
  EXPECT_GE(left_s, needed_s);
  EXPECT_LT(left_s, needed_s + 2 * round_s) << "and no more";
}

}  // namespace
}  // namespace pgtune::session
