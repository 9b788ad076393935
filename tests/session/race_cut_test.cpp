// SPDX-License-Identifier: MIT
// Who enters a race and who leaves it, by hand-made sample times.
#include "tuner/session/rounds/race_cut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace pgtune::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kTie = 0.003;

TEST(EntryMargin, IsAtLeastThreePercent) {
  EXPECT_DOUBLE_EQ(entry_margin(std::vector<SampleTimes>{{1, 1, 1}, {1.1, 1.1, 1.1}}, 0.001), 0.03);
  EXPECT_DOUBLE_EQ(entry_margin(std::vector<SampleTimes>{}, 0.001), 0.03);
}

TEST(EntryMargin, FollowsTheTieMarginAndTheSamplesOwnRange) {
  EXPECT_DOUBLE_EQ(entry_margin(std::vector<SampleTimes>{{1, 1, 1}}, 0.005), 0.05);
  EXPECT_NEAR(entry_margin(std::vector<SampleTimes>{{1, 1.015, 1.01}}, kTie), 0.06, 1e-9);
}

TEST(EntryMargin, IsAtMostTwentyPercent) {
  EXPECT_DOUBLE_EQ(entry_margin(std::vector<SampleTimes>{{1, 1.5, 2}}, kTie), 0.20);
  EXPECT_DOUBLE_EQ(entry_margin(std::vector<SampleTimes>{{1}}, 0.5), 0.20);
}

TEST(EntryMargin, LooksOnlyAtThoseNearTheBest) {
  EXPECT_NEAR(entry_margin(std::vector<SampleTimes>{{1, 1.01, 1}, {1.4, 1.6, 1.5}}, kTie), 0.04, 1e-9);
}

TEST(RaceEntrants, AreWithinTheMarginFastestFirst) {
  const std::vector<SampleTimes> screening{{1.02}, {1.031}, {1.0}, {2}, {1.0299}};
  EXPECT_THAT(race_entrants(screening, kTie), ElementsAre(2, 0, 4));
  EXPECT_THAT(race_entrants(std::vector<SampleTimes>{}, kTie), IsEmpty());
}

TEST(RaceEntrants, AreAtMostNinetySix) {
  std::vector<SampleTimes> screening;
  for (int i = 0; i < 200; ++i) screening.push_back({1 + 0.0001 * (199 - i)});
  const auto entrants = race_entrants(screening, kTie);
  ASSERT_EQ(entrants.size(), 96U);
  EXPECT_EQ(entrants.front(), 199U);
}

TEST(RaceOrder, CancelsWhatMovesAWholeRound) {
  // By plain medians the second would be ahead: its good rounds are the slow ones.
  const std::vector<SampleTimes> times{{1.00, 1.50, 1.50, 1.00, 1.50}, {1.01, 1.49, 1.51, 1.01, 1.51}};
  EXPECT_THAT(race_order(times), ElementsAre(0, 1));
  EXPECT_THAT(race_order(std::vector<SampleTimes>{{2}, {3}, {1}}), ElementsAre(2, 0, 1));
  EXPECT_THAT(race_order(std::vector<SampleTimes>{}), IsEmpty());
}

SampleTimes rounds(std::size_t count, double time_s) { return SampleTimes(count, time_s); }

TEST(RaceCut, NobodyLeavesInTheFirstTwoRounds) {
  EXPECT_THAT(race_cut(std::vector<SampleTimes>{rounds(2, 1), rounds(2, 5)}, {kTie, 1, 1}), IsEmpty());
}

TEST(RaceCut, AfterThreeRoundsWhoWasSlowerByTwoMarginsInEachOfThem) {
  const std::vector<SampleTimes> times{
      {1, 1, 1}, {1.007, 1.007, 1.007}, {1.005, 1.1, 1.1}, {1.02, 1.03, 1.01}, {1.005, 1.005, 1.005}};
  EXPECT_THAT(race_cut(times, {kTie, 1, 1}), ElementsAre(3, 1)) << "the slowest first";
  EXPECT_THAT(race_cut(times, {0.001, 1, 1}), ElementsAre(2, 3, 1, 4));
}

TEST(RaceCut, FromSixRoundsTheIntervalDecides) {
  std::vector<SampleTimes> times{rounds(5, 1), rounds(5, 1.0045)};
  EXPECT_THAT(race_cut(times, {kTie, 1, 1}), IsEmpty());
  times = {rounds(6, 1), rounds(6, 1.0045)};
  EXPECT_THAT(race_cut(times, {kTie, 1, 1}), ElementsAre(1));
  times[1][2] = 1.001;  // at six rounds the interval reaches into the margin
  EXPECT_THAT(race_cut(times, {kTie, 1, 1}), IsEmpty());
  times = {rounds(9, 1), rounds(9, 1.0045)};
  times[1][2] = 1.001;  // at nine it does not
  EXPECT_THAT(race_cut(times, {kTie, 1, 1}), ElementsAre(1));
}

TEST(RaceCut, ManyLooksWidenTheInterval) {
  std::vector<SampleTimes> times{rounds(9, 1), rounds(9, 1.0045)};
  times[1][2] = 1.001;
  EXPECT_THAT(race_cut(times, {kTie, 1, planned_race_looks(16)}), IsEmpty());
  EXPECT_EQ(planned_race_looks(16), 11) << "after the rounds 6 to 16";
  EXPECT_EQ(planned_race_looks(3), 1);
}

TEST(RaceCut, TiesStay) {
  EXPECT_THAT(race_cut(std::vector<SampleTimes>{rounds(16, 1), rounds(16, 1.0025)}, {kTie, 1, 1}), IsEmpty());
}

TEST(RaceCut, LeavesAsManyAsTheFinalTakes) {
  const std::vector<SampleTimes> times{rounds(3, 1), rounds(3, 1.1), rounds(3, 1.3), rounds(3, 1.2), rounds(3, 1.4)};
  EXPECT_THAT(race_cut(times, {kTie, 3, 1}), ElementsAre(4, 2));
  EXPECT_THAT(race_cut(times, {kTie, 5, 1}), IsEmpty());
  EXPECT_THAT(race_cut(times, {kTie, 0, 1}), ElementsAre(4, 2, 3, 1)) << "at least one is left";
}

constexpr double kWide = 1;  ///< a tie margin that makes the entry margin the widest, a fifth

TEST(SettledEntrants, AreInTurnsTheFastestAndTheLeastOfEachKey) {
  const std::vector<SampleTimes> screening{{1.00}, {1.01}, {1.02}, {1.15}, {1.18}};
  const RaceKeys cycles{5, 4, 3, 2, 1}, expected{3, 1, 2, 5, 4};
  EXPECT_THAT(settled_entrants(screening, std::vector<RaceKeys>{cycles}, kWide, 4), ElementsAre(0, 4, 1, 3));
  EXPECT_THAT(settled_entrants(screening, std::vector<RaceKeys>{cycles}, kWide, 9), ElementsAre(0, 4, 1, 3, 2))
      << "each once";
  EXPECT_THAT(settled_entrants(screening, std::vector<RaceKeys>{cycles, expected}, kWide, 4), ElementsAre(0, 4, 1, 3));
  EXPECT_THAT(settled_entrants(screening, std::vector<RaceKeys>{expected, cycles}, kWide, 4), ElementsAre(0, 1, 4, 2));
}

TEST(SettledEntrants, WhoIsLeastByAKeyRacesHoweverSlowTheClockMadeIt) {
  EXPECT_THAT(settled_entrants(std::vector<SampleTimes>{{1}, {1.5}}, std::vector<RaceKeys>{{2, 1}}, kWide, 2),
              ElementsAre(0, 1));
}

TEST(SettledEntrants, OfWhomNothingIsKnownNobodyHasATurn) {
  const std::vector<SampleTimes> screening{{1.02}, {1.00}, {1.5}};
  EXPECT_THAT(settled_entrants(screening, {}, kWide, 3), ElementsAre(1, 0));
  EXPECT_THAT(settled_entrants(screening, std::vector<RaceKeys>{{0, 0, 0}}, kWide, 3), ElementsAre(1, 0));
  EXPECT_THAT(settled_entrants(screening, std::vector<RaceKeys>{{0, 0, 7}}, kWide, 3), ElementsAre(1, 2, 0));
  EXPECT_THAT(settled_entrants({}, {}, kWide, 3), IsEmpty());
}

}  // namespace
}  // namespace pgtune::session
