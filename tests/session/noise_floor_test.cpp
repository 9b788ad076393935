// SPDX-License-Identifier: MIT
// The baseline against itself: what the session's noise floor is, and how it is measured.
#include "tuner/session/rounds/baseline_rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Two in each round, in order AB BA AB ...
std::vector<Sample> pairs_of(const std::vector<double>& first_s, const std::vector<double>& second_s) {
  std::vector<Sample> out;
  for (std::size_t i = 0; i < first_s.size(); ++i) {
    const int round = static_cast<int>(i) + 1, place = static_cast<int>(i % 2);
    out.push_back({Stage::kFloor, round, place, 1, first_s[i], 0});
    out.push_back({Stage::kFloor, round, 1 - place, 1, second_s[i], 0});
  }
  return out;
}

/// The rounds of the floor without those of the warm-up.
std::vector<FakeDevice::Names> pairs(FakeDevice& device) {
  auto rounds = device.rounds[Stage::kFloor];
  std::erase_if(rounds, [](const FakeDevice::Names& names) { return names.size() < 2; });
  return rounds;
}

TEST(NoiseFloor, IsHalfTheIntervalOfThePairedRatios) {
  // ln ratios of -0.010, -0.005, -0.001 and the same above 0, one by one: t(5) = 2.5706 times their standard error.
  const NoiseFloor floor =
      noise_floor(pairs_of({0.990050, 0.995012, 0.999, 1.001, 1.005013, 1.010050}, {1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(floor.rounds, 6);
  EXPECT_NEAR(floor.half_width, 0.007478, 1e-6);
  EXPECT_NEAR(floor.margin, 0.014956, 2e-6);
}

TEST(NoiseFloor, AQuietSessionKeepsTheSmallestMargin) {
  const NoiseFloor floor = noise_floor(pairs_of({1.0001, 0.9999, 1.0002, 1, 1, 0.9998}, {1, 1, 1, 1, 1, 1}));
  EXPECT_NEAR(floor.half_width, 0.000148, 1e-6);
  EXPECT_EQ(floor.margin, 0.003);
}

TEST(NoiseFloor, FewerThanSixPairsAreNone) {
  const NoiseFloor floor = noise_floor(pairs_of({1, 2, 3, 4, 5}, {1, 1, 1, 1, 1}));
  EXPECT_EQ(floor.rounds, 0);
  EXPECT_EQ(floor.margin, 0.003);
}

TEST(NoiseFloor, FollowsFromPositionsWhicheverEntryHasThem) {
  const auto samples = pairs_of({0.990, 0.995, 0.999, 1.001, 1.005, 1.011}, {1, 1.002, 1, 1, 0.997, 1});
  const NoiseFloor floor = noise_floor(samples);
  EXPECT_GT(floor.half_width, 0);
  // As the database gives them back: by round and position, whoever's they were.
  auto stored = samples;
  std::sort(stored.begin(), stored.end(), [](const Sample& a, const Sample& b) {
    return std::pair(a.round, a.position) < std::pair(b.round, b.position);
  });
  EXPECT_EQ(noise_floor(stored), floor);
  std::reverse(stored.begin(), stored.end());
  EXPECT_EQ(noise_floor(stored), floor);
}

TEST(Floor, IsMeasuredBeforeTheSearchWithTheBestBaselineTwiceInARound) {
  TestSearch search;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  const auto rounds = pairs(device);
  EXPECT_EQ(rounds.size(), 24U);
  for (const auto& round : rounds) EXPECT_THAT(round, ElementsAre("ref1", "ref1"));
  EXPECT_EQ(device.sample_s[Stage::kFloor], 20e-3);
  const NoiseFloor& floor = result->answer->floor;
  EXPECT_EQ(floor.rounds, 24);
  EXPECT_GT(floor.half_width, 0);
  EXPECT_LT(floor.half_width, 0.0005);
  EXPECT_EQ(floor.margin, 0.003);
  ASSERT_EQ(search.store.rounds[Stage::kFloor].size(), 1U);
  const auto& saved = search.store.rounds[Stage::kFloor].front();
  ASSERT_EQ(saved.size(), 2U);
  for (std::size_t round = 0; round < 24; ++round) {
    EXPECT_NE(saved[0].samples[round].position, saved[1].samples[round].position);
  }
  EXPECT_NEAR(result->answer->stages.floor_s, 48 * 10 * 1.1e-3, 1e-3);
  const auto floor_phase = std::find_if(search.progress.begin(), search.progress.end(),
                                        [](const Progress& update) { return update.phase == Progress::Phase::kFloor; });
  ASSERT_NE(floor_phase, search.progress.end());
  EXPECT_EQ(floor_phase->rounds, 24);
}

TEST(Floor, ANoisySessionHasAWiderMargin) {
  TestSearch search;
  auto device = search.device();
  device.noise = 0.04;
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_GT(result->answer->floor.margin, 0.003);
  EXPECT_EQ(result->answer->floor.margin, 2 * result->answer->floor.half_width);
}

TEST(Floor, WarmsUpUntilTheSamplesAreSteady) {
  TestSearch search;
  auto device = search.device();
  device.round_s = 0.01;
  device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.contenders.size() == 1 && request.round <= 20)
      report.samples.front()->time_s *= 1 + 0.3 / request.round;
  };
  ASSERT_TRUE(search.run(device));
  const auto all = device.rounds[Stage::kFloor].size();
  EXPECT_GT(all, 24U + 20U);
  EXPECT_LT(all, 24U + 40U);
}

TEST(Floor, BelongsToItsSession) {
  TestSearch search;
  auto first = search.device();
  first.after_trial = [&] { search.stop = first.trials.size() == 5; };
  ASSERT_TRUE(search.run(first));
  search.stop = false;
  auto second = search.device();
  ASSERT_TRUE(search.run(second));
  EXPECT_EQ(pairs(second).size(), 24U);
}

TEST(Floor, TakesATenthOfATimeBudget) {
  TestSearch search;
  search.options.budget.seconds = 20;
  auto device = search.device();
  device.round_s = 0.2;  // of the 2 s, half a second goes to the warm-up's limit
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_GE(result->answer->floor.rounds, 6);
  EXPECT_LE(result->answer->floor.rounds, 10);
}

TEST(Floor, IsLeftOutWhereATenthOfTheBudgetIsTooShort) {
  TestSearch search;
  search.options.budget.seconds = 2;
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(pairs(device).empty());
  EXPECT_EQ(result->answer->floor.rounds, 0);
  EXPECT_EQ(result->answer->floor.margin, 0.003);
  EXPECT_THAT(result->answer->notes,
              Contains(HasSubstr("no noise floor: the time budget is too short; differences below 0.3 %")));
}

TEST(Floor, IsLeftOutWithoutABaseline) {
  TestSearch search;
  auto device = search.device();
  device.baseline.algorithms.clear();
  device.baseline.best = 0;
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(device.rounds[Stage::kFloor].empty());
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("there is no baseline")));
}

TEST(Floor, ABaselineThatFailsIsNoFloorButNoEndEither) {
  TestSearch search;
  auto device = search.device();
  device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage != Stage::kFloor) return;
    report.samples.back().reset();
    report.outcomes.back() = {OutcomeKind::kCrashed, "illegal address"};
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(result->answer->from_final);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("the baseline failed: illegal address")));
}

TEST(Floor, HeatThatPassesLaterCostsOnlyTheFloor) {
  TestSearch search;
  auto device = search.device();
  device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage == Stage::kFloor) report.samples.front()->thermal_s = 0.01;
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_FALSE(result->gave_up);
  EXPECT_TRUE(result->answer->complete && result->answer->from_final);
  EXPECT_EQ(result->answer->floor.rounds, 0);
  EXPECT_EQ(result->answer->voided_rounds, 5);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("no noise floor: heat or jumping clocks")));
  EXPECT_THAT(result->answer->notes, Not(Contains(HasSubstr("ended early"))));
}

}  // namespace
}  // namespace pgtune::session
