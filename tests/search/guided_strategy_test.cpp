// SPDX-License-Identifier: MIT
#include "tuner/search/guided_strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "tuner/search/shuffle.hpp"

namespace pgtune::search {
namespace {

constexpr auto kOneSecond = [](std::size_t) { return Observation{OutcomeKind::kOk, false, 1}; };

/// Every proposal in its order, each of which is reported before the next.
template <class Observe = decltype(kOneSecond)>
std::vector<std::size_t> all(Strategy& strategy, const Observe& observe = kOneSecond) {
  std::vector<std::size_t> order;
  while (const auto index = strategy.next()) {
    order.push_back(*index);
    strategy.report(*index, observe(*index));
  }
  return order;
}

TEST(ShuffledIndices, IsAPermutationFixedForEveryPlatform) {
  EXPECT_THAT(shuffled_indices(8, 1), testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  // Follows from std::mt19937_64, whose output the standard fixes. A change here would change recorded orders.
  EXPECT_THAT(shuffled_indices(8, 1), testing::ElementsAre(4, 6, 3, 5, 1, 7, 2, 0));
  EXPECT_TRUE(shuffled_indices(0, 1).empty());
}

TEST(ShuffledIndices, SeedsDiffer) { EXPECT_NE(shuffled_indices(50, 1), shuffled_indices(50, 2)); }

// Every index should lead about equally often: 6,000 draws of 6, expected 1,000, standard deviation 29.
TEST(ShuffledIndices, IsUniformInItsFirstPlace) {
  std::vector<int> leads(6, 0);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++leads[shuffled_indices(6, seed).front()];
  EXPECT_THAT(leads, testing::Each(testing::AllOf(testing::Ge(850), testing::Le(1150))));
}

TEST(GuidedStrategy, DefaultLeadsAndEveryVariantComesOnce) {
  GuidedStrategy strategy({{20, {}}}, {13}, 5);
  const auto order = all(strategy);
  EXPECT_EQ(order.front(), 13U);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 20U);
  EXPECT_EQ(order.size(), 20U);
  EXPECT_EQ(strategy.next(), std::nullopt);
}

TEST(GuidedStrategy, TheRestKeepsTheShuffledOrder) {
  auto expected = shuffled_indices(20, 5);
  std::erase(expected, std::size_t{13});
  GuidedStrategy strategy({{20, {}}}, {13}, 5);
  auto order = all(strategy);
  order.erase(order.begin());
  EXPECT_EQ(order, expected);
}

TEST(GuidedStrategy, WithoutALegalDefault) {
  GuidedStrategy strategy({{20, {}}}, {}, 5);
  EXPECT_EQ(all(strategy), shuffled_indices(20, 5));
}

TEST(GuidedStrategy, GroupsTakeTurnsUntilTheSmallerIsThrough) {
  GuidedStrategy strategy({{3, {}}, {6, {}}}, {}, 5);
  const auto order = all(strategy);
  ASSERT_EQ(order.size(), 9U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(order[i] < 3, i % 2 == 0) << i;
  EXPECT_THAT(std::vector(order.begin() + 6, order.end()), testing::Each(testing::Ge(3U)));
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 9U);
}

TEST(GuidedStrategy, TheDefaultsOfAllGroupsLead) {
  GuidedStrategy strategy({{3, {}}, {6, {}}}, {2, 7}, 5);
  auto order = all(strategy);
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 2), testing::ElementsAre(2U, 7U));
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 9U);
}

TEST(GuidedStrategy, OfSeveralGroupsNothingButLeadersComesBeforeTheyHaveReported) {
  GuidedStrategy strategy({{3, {}}, {6, {}}}, {2, 7}, 5);
  EXPECT_EQ(strategy.next(), 2U);
  EXPECT_EQ(strategy.next(), 7U);
  EXPECT_EQ(strategy.next(), std::nullopt);
  strategy.report(7, {OutcomeKind::kOk, false, 1});
  EXPECT_EQ(strategy.next(), std::nullopt);
  strategy.report(2, {OutcomeKind::kCompileFailed, false, 0});
  EXPECT_TRUE(strategy.next());
}

TEST(GuidedStrategy, ASingleGroupWaitsForNobody) {
  GuidedStrategy strategy({{6, {}}}, {2}, 5);
  EXPECT_EQ(strategy.next(), 2U);
  EXPECT_TRUE(strategy.next());
}

TEST(GuidedStrategy, AGroupWhoseLeadersAreFarBehindComesLast) {
  const auto observe = [](std::size_t index) { return Observation{OutcomeKind::kOk, false, index < 6 ? 2.1 : 1.0}; };
  GuidedStrategy strategy({{6, {}}, {3, {}}, {3, {}}}, {4, 5, 7}, 5);
  const auto order = all(strategy, observe);
  ASSERT_EQ(order.size(), 12U);
  EXPECT_THAT(std::vector(order.begin() + 3, order.begin() + 8), testing::Each(testing::Ge(6U)));
  EXPECT_THAT(std::vector(order.begin() + 8, order.end()), testing::Each(testing::Lt(6U)));
}

TEST(GuidedStrategy, TheFastestLeaderSpeaksForItsGroupAndFailuresDoNot) {
  const auto observe = [](std::size_t index) {
    return index == 0 ? Observation{OutcomeKind::kInvalid, false, 0}
                      : Observation{OutcomeKind::kOk, false, index == 1 ? 9 : 1.4};
  };
  GuidedStrategy strategy({{3, {}}, {3, {}}, {1, {}}}, {0, 1, 2, 6}, 5);
  const auto order = all(strategy, observe);
  EXPECT_THAT(order, testing::ElementsAre(0U, 1U, 2U, 6U, testing::_, testing::_, testing::_));
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 7U);
}

TEST(GuidedStrategy, AGroupWithoutARightLeaderIsNotJudged) {
  const auto observe = [](std::size_t index) {
    return index < 3 ? Observation{OutcomeKind::kInvalid, false, 0} : Observation{OutcomeKind::kOk, false, 1.0};
  };
  GuidedStrategy strategy({{3, {}}, {3, {}}}, {0, 3}, 5);
  const auto order = all(strategy, observe);
  ASSERT_EQ(order.size(), 6U);
  EXPECT_LT(order[2], 3U);
  EXPECT_GE(order[3], 3U);
}

// What an earlier session knows beside the leaders changes nothing: a resumed search keeps its order.
TEST(GuidedStrategy, OnlyLeadersAreJudged) {
  const auto observe = [](std::size_t index) { return Observation{OutcomeKind::kOk, false, index < 3 ? 2.0 : 1.0}; };
  GuidedStrategy fresh({{3, {}}, {3, {}}}, {0, 3}, 5), resumed({{3, {}}, {3, {}}}, {0, 3}, 5);
  resumed.report(1, {OutcomeKind::kOk, false, 0.5});
  EXPECT_EQ(all(resumed, observe), all(fresh, observe));
}

TEST(GuidedStrategy, TheCheapestComeFirstAndEveryFourthAtRandom) {
  Group group{40, {}};
  for (std::size_t i = 0; i < group.size; ++i) group.costs.push_back(static_cast<double>(40 - i));
  GuidedStrategy strategy({group}, {}, 5);
  const auto order = all(strategy);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 40U);
  const auto random = shuffled_indices(40, 5);
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 4), testing::ElementsAre(39U, 38U, 37U, random.front()));
  // Those at random may be among the cheapest: then there is one fewer of these later.
  std::vector<std::size_t> cheap;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % GuidedStrategy::kRandomEvery != GuidedStrategy::kRandomEvery - 1) cheap.push_back(order[i]);
  }
  EXPECT_TRUE(std::is_sorted(cheap.rbegin(), cheap.rend()));
}

TEST(GuidedStrategy, EquallyCheapOnesComeInRandomOrder) {
  GuidedStrategy strategy({{20, std::vector<double>(20, 1.0)}}, {}, 5);
  EXPECT_EQ(all(strategy), shuffled_indices(20, 5));
}

TEST(GuidedStrategy, AGroupWithoutCostsBesideOneWithThem) {
  GuidedStrategy strategy({{3, {3, 2, 1}}, {3, {}}}, {1}, 5);
  const auto order = all(strategy);
  const auto random = shuffled_indices(3, 5);
  EXPECT_THAT(order, testing::ElementsAre(1U, 2U, 0U, 3 + random[0], 3 + random[1], 3 + random[2]));
}

TEST(GuidedStrategy, AGroupIsJudgedByItsCheapestBesideItsDefault) {
  const auto observe = [](std::size_t index) { return Observation{OutcomeKind::kOk, false, index == 0 ? 9.0 : 1.0}; };
  GuidedStrategy strategy({{3, {3, 1, 2}}, {3, {1, 2, 3}}}, {0, 3}, 5);
  EXPECT_THAT(all(strategy, observe), testing::ElementsAre(0U, 3U, 1U, 2U, 4U, 5U));
}

TEST(GuidedStrategy, CostsMustCoverTheGroup) { EXPECT_THROW(GuidedStrategy({{3, {1, 2}}}, {}, 5), std::logic_error); }

TEST(GuidedStrategy, EmptySpace) {
  GuidedStrategy strategy({}, {}, 5);
  EXPECT_EQ(strategy.next(), std::nullopt);
}

}  // namespace
}  // namespace pgtune::search
