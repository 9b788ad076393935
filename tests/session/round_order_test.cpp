// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/round_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace pgtune::session {
namespace {

using Orders = std::vector<std::vector<std::size_t>>;
using Counts = std::map<std::pair<std::size_t, std::size_t>, int>;

Orders group(const RoundOrder& orders, int number) {
  Orders out;
  const int rounds = static_cast<int>(orders.group_rounds());
  for (int round = 0; round < rounds; ++round) out.push_back(orders.order(number * rounds + round));
  return out;
}

Counts positions(const Orders& rounds) {
  Counts out;
  for (const auto& round : rounds) {
    for (std::size_t position = 0; position < round.size(); ++position) ++out[{round[position], position}];
  }
  return out;
}

Counts successions(const Orders& rounds) {
  Counts out;
  for (const auto& round : rounds) {
    for (std::size_t position = 1; position < round.size(); ++position) ++out[{round[position - 1], round[position]}];
  }
  return out;
}

class RoundOrderOf : public testing::TestWithParam<std::size_t> {};

TEST_P(RoundOrderOf, GivesEachContenderEachPositionEquallyOftenInEveryGroup) {
  const std::size_t n = GetParam();
  for (int number = 0; number < 3; ++number) {
    const RoundOrder orders(n, 3);
    const Counts seen = positions(group(orders, number));
    EXPECT_EQ(seen.size(), n * n);
    for (const auto& [place, count] : seen) EXPECT_EQ(count, static_cast<int>(orders.group_rounds() / n));
  }
}

TEST_P(RoundOrderOf, PutsEachContenderBehindEachOtherEquallyOftenInEveryGroup) {
  const std::size_t n = GetParam();
  for (int number = 0; number < 3; ++number) {
    const RoundOrder orders(n, 5);
    const Counts seen = successions(group(orders, number));
    EXPECT_EQ(seen.size(), n * (n - 1)) << "every ordered pair";
    for (const auto& [pair, count] : seen) EXPECT_EQ(count, static_cast<int>(orders.group_rounds() / n));
  }
}

TEST_P(RoundOrderOf, InFewerRoundsThanAGroupNothingIsRepeatedMoreThanTwice) {
  const RoundOrder orders(GetParam(), 7);
  Orders rounds = group(orders, 0);
  rounds.resize(rounds.size() / 2);
  for (const auto& [place, count] : positions(rounds)) EXPECT_LE(count, 2);
  for (const auto& [pair, count] : successions(rounds)) EXPECT_LE(count, 2);
}

TEST_P(RoundOrderOf, ReversesTheFirstOfEachPairInTheSecond) {
  const RoundOrder orders(GetParam(), 1);
  for (int round = 0; GetParam() > 1 && round < 3 * static_cast<int>(orders.group_rounds()); round += 2) {
    auto forth = orders.order(round);
    std::reverse(forth.begin(), forth.end());
    EXPECT_EQ(orders.order(round + 1), forth);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RoundOrderOf, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 97, 98));

TEST(RoundOrder, LabelsEveryGroupAnew) {
  const RoundOrder orders(8, 1);
  std::set<std::size_t> firsts;
  std::set<Orders> groups;
  for (int number = 0; number < 20; ++number) {
    groups.insert(group(orders, number));
    firsts.insert(orders.order(8 * number).front());
  }
  EXPECT_EQ(groups.size(), 20U);
  EXPECT_GT(firsts.size(), 4U) << "who begins a group is drawn";
}

TEST(RoundOrder, GroupsAreOfAsManyRoundsAsContendersOrTwice) {
  EXPECT_EQ(RoundOrder(0, 1).group_rounds(), 1U);
  EXPECT_EQ(RoundOrder(1, 1).group_rounds(), 1U);
  EXPECT_EQ(RoundOrder(2, 1).group_rounds(), 2U);
  EXPECT_EQ(RoundOrder(10, 1).group_rounds(), 10U);
  EXPECT_EQ(RoundOrder(11, 1).group_rounds(), 22U);
}

TEST(RoundOrder, SeedDecidesTheOrders) {
  EXPECT_EQ(RoundOrder(10, 1).order(12), RoundOrder(10, 1).order(12));
  EXPECT_NE(RoundOrder(10, 1).order(0), RoundOrder(10, 2).order(0));
  EXPECT_TRUE(RoundOrder(0, 1).order(0).empty());
}

TEST(OrderSeed, DiffersBySeedAndOccasion) {
  const std::set<std::uint64_t> seeds{
      order_seed(1, "2026-01-01T00:00:00Z final"), order_seed(2, "2026-01-01T00:00:00Z final"),
      order_seed(1, "2026-01-01T00:00:01Z final"), order_seed(1, "2026-01-01T00:00:00Z race"), order_seed(1, "")};
  EXPECT_EQ(seeds.size(), 5U);
  EXPECT_EQ(order_seed(1, "a"), order_seed(1, "a"));
}

}  // namespace
}  // namespace pgtune::session
