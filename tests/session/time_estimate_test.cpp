// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/pipeline.hpp"
#include "tuner/session/rounds/round_plan.hpp"

#include <gtest/gtest.h>

namespace pgtune::session {
namespace {

TimeEstimate estimate(double build_s, double trial_s) {
  TimeEstimate out(8);
  for (int i = 0; i < 10; ++i) {
    out.build_finished(build_s);
    out.trial_finished(trial_s);
  }
  return out;
}

TEST(TimeEstimate, SaysNothingTooEarly) {
  TimeEstimate early(8);
  EXPECT_FALSE(early.remaining_s(10, 10));
  early.build_finished(1);
  early.trial_finished(1);
  EXPECT_FALSE(early.remaining_s(10, 10));
}

TEST(TimeEstimate, WhatIsBuiltAlreadyNeedsNoBuildToJudgeBy) {
  TimeEstimate tried(8);
  for (int i = 0; i < 10; ++i) tried.trial_finished(0.5);
  EXPECT_DOUBLE_EQ(tried.remaining_s(0, 10).value(), 5);
  EXPECT_FALSE(tried.remaining_s(1, 10));
}

TEST(TimeEstimate, TheSlowerOfCompilingAndTryingDecides) {
  EXPECT_DOUBLE_EQ(estimate(4, 0.1).remaining_s(100, 110).value(), 50);  // eight builds at once
  EXPECT_DOUBLE_EQ(estimate(0.1, 0.2).remaining_s(100, 110).value(), 22);
  EXPECT_DOUBLE_EQ(estimate(4, 0.1).remaining_s(0, 0).value(), 0);
}

TEST(TimeEstimate, FollowsAChangeOfPace) {
  TimeEstimate changing = estimate(0.1, 1);
  for (int i = 0; i < 500; ++i) changing.trial_finished(0.1);
  EXPECT_NEAR(changing.remaining_s(0, 100).value(), 10, 0.1);
}

TEST(ExpectedRounds, LongLaunchesMakeLongSamples) {
  EXPECT_DOUBLE_EQ(expected_round_s({20e-3, 0}, 2, 1e-3), 1.25 * 40e-3);
  EXPECT_DOUBLE_EQ(expected_round_s({20e-3, 0}, 2, 5e-3), 1.25 * 50e-3) << "five launches";
  EXPECT_DOUBLE_EQ(expected_round_s({20e-3, 0}, 2, 0.1), 1.25 * 0.4) << "two launches at least";
}

TEST(ExpectedRounds, ABudgetKeepsAtMostHalfForThemAndAQuarterForTheFinal) {
  SessionOptions options;
  const double rounds_s = expected_race_s(options, 1e-3) + expected_final_s(options, 1e-3);
  const auto reserved_s = [&](std::optional<double> time_left_s) {
    return reserved_for_rounds_s(options, 1e-3, Sampling::kShort, time_left_s);
  };
  EXPECT_DOUBLE_EQ(reserved_s(std::nullopt), rounds_s);
  options.budget.seconds = 1000;
  EXPECT_DOUBLE_EQ(reserved_s(1000), rounds_s);
  EXPECT_DOUBLE_EQ(reserved_for_final_s(options, 1e-3), expected_final_s(options, 1e-3));
  options.budget.seconds = 4;
  EXPECT_DOUBLE_EQ(reserved_s(4), 2);
  EXPECT_DOUBLE_EQ(reserved_s(3), 1.5) << "of what is left";
  EXPECT_DOUBLE_EQ(reserved_s(-1), 0);
  EXPECT_DOUBLE_EQ(reserved_for_final_s(options, 1e-3), 1);
}

TEST(ExpectedRounds, TakeTheirTimeAtTheCapAndWhatIsLeftBelowIt) {
  const SessionOptions options;
  const auto rounds_s = [&](Sampling sampling, std::optional<double> left_s) {
    return expected_rounds_s(options, 1e-3, sampling, left_s);
  };
  const double race_s = expected_race_s(options, 1e-3, Sampling::kSettled);
  const double final_s = expected_final_s(options, 1e-3, Sampling::kSettled);
  EXPECT_DOUBLE_EQ(rounds_s(Sampling::kSettled, std::nullopt), race_s + final_s);
  EXPECT_DOUBLE_EQ(rounds_s(Sampling::kSettled, race_s + final_s + 0.01), race_s + final_s);
  const double least_race_s = expected_race_s(options, 1e-3, Sampling::kSettled, 0);
  EXPECT_LT(least_race_s, race_s);
  EXPECT_DOUBLE_EQ(rounds_s(Sampling::kSettled, 0), least_race_s + final_s);
  const double short_s = rounds_s(Sampling::kShort, std::nullopt);
  EXPECT_DOUBLE_EQ(rounds_s(Sampling::kShort, short_s + 1), short_s);
  EXPECT_DOUBLE_EQ(rounds_s(Sampling::kShort, 0.8 * short_s), 0.8 * short_s);
  EXPECT_DOUBLE_EQ(rounds_s(Sampling::kShort, 0), short_s / 4);
}

TEST(SettledRacePlan, HasAsManyEntrantsAsTheTimeLeftHoldsWithinItsLimits) {
  SessionOptions options;
  const auto entrants = [&](std::optional<double> left_s) { return settled_race_plan(options, 1e-3, left_s).variants; };
  const double rounds_s =
      expected_race_s(options, 1e-3, Sampling::kSettled) + expected_final_s(options, 1e-3, Sampling::kSettled);
  const double sample_s = expected_sample_s(settled_race_plan(options, 1e-3, {}).timing, 1e-3);
  EXPECT_EQ(entrants(std::nullopt), 32U);
  EXPECT_EQ(entrants(1000), 32U);
  EXPECT_EQ(entrants(rounds_s - 4.5 * sample_s), 27U);
  EXPECT_EQ(entrants(rounds_s - 17.5 * sample_s), 14U);
  EXPECT_EQ(entrants(rounds_s - 18.5 * sample_s), 14U) << "a final without a race would trust screening";
  EXPECT_EQ(entrants(-5), 14U);
  options.settled_entrants = 40;
  EXPECT_EQ(entrants(0), 40U) << "asked for";
}

TEST(ExpectedRounds, OfASearchThatOnlyChoosesHaveNoBaseline) {
  SessionOptions whole, chooses;
  chooses.only_chooses = true;
  EXPECT_EQ(settled_race_plan(whole, 1e-3, {}).algorithms, 3U);
  EXPECT_EQ(settled_race_plan(chooses, 1e-3, {}).algorithms, 0U);
  const double sample_s = expected_sample_s(kSettledSample, 1e-3);
  const FinalPlan plan = final_plan(whole, Sampling::kSettled);
  EXPECT_NEAR(expected_final_s(chooses, 1e-3, Sampling::kSettled),
              expected_final_s(whole, 1e-3, Sampling::kSettled) - expected_confirm_s(plan, 1e-3) - 3 * sample_s, 1e-9);
}

TEST(ExpectedRounds, SettledOnesThatOutlastTheBudgetLeaveHalfOfItToTheSearch) {
  SessionOptions options;
  options.budget.seconds = 8;
  const double rounds_s =
      expected_race_s(options, 1e-3, Sampling::kSettled) + expected_final_s(options, 1e-3, Sampling::kSettled);
  ASSERT_GT(rounds_s, 8);
  const auto searched_s = [&](double time_left_s) {
    return time_left_s - reserved_for_rounds_s(options, 1e-3, Sampling::kSettled, time_left_s);
  };
  EXPECT_DOUBLE_EQ(searched_s(8), 4);
  EXPECT_DOUBLE_EQ(searched_s(1.5), 4) << "what came before took the time";
  EXPECT_DOUBLE_EQ(searched_s(-2), 4);
  options.budget.seconds = 1000;
  EXPECT_DOUBLE_EQ(searched_s(1000), 1000 - rounds_s);
  EXPECT_DOUBLE_EQ(searched_s(rounds_s / 2), rounds_s) << "the rounds no longer fit";
}

TEST(AffordableRounds, FitTheTimeLeftButAreEnoughForAnInterval) {
  EXPECT_EQ(affordable_rounds(24, 4, 4, std::nullopt), 24);
  EXPECT_EQ(affordable_rounds(24, 0, 0, 1.0), 24) << "nothing to judge by yet";
  EXPECT_EQ(affordable_rounds(24, 4, 4, 30.0), 24);
  EXPECT_EQ(affordable_rounds(24, 4, 4, 10.5), 14);
  EXPECT_EQ(affordable_rounds(24, 4, 4, 0.0), kMinimumRounds);
  EXPECT_EQ(affordable_rounds(24, 10, 10, -5.0), 10);
  EXPECT_EQ(affordable_rounds(4, 2, 2, 0.0), 4);
}

}  // namespace
}  // namespace pgtune::session
