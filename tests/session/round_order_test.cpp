// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/round_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace pgtune::session {
namespace {

class RoundOrderOf : public testing::TestWithParam<std::size_t> {};

TEST_P(RoundOrderOf, GivesEachContenderEachPositionTwice) {
  const std::size_t n = GetParam();
  const RoundOrder orders(n, 3);
  std::vector<std::vector<int>> seen(n, std::vector<int>(n, 0));
  for (int round = 0; round < 2 * static_cast<int>(n); ++round) {
    const auto order = orders.order(round);
    for (std::size_t position = 0; position < n; ++position) ++seen[order[position]][position];
  }
  for (const auto& contender : seen) EXPECT_EQ(contender, std::vector<int>(n, 2));
}

INSTANTIATE_TEST_SUITE_P(Sizes, RoundOrderOf, testing::Values(1, 2, 3, 7, 10));

TEST(RoundOrder, TheSecondOfAPairIsTheFirstReversed) {
  const RoundOrder orders(6, 1);
  auto forth = orders.order(4);
  std::reverse(forth.begin(), forth.end());
  EXPECT_EQ(orders.order(5), forth);
}

TEST(RoundOrder, SeedDecidesTheStart) {
  EXPECT_EQ(RoundOrder(10, 1).order(0), RoundOrder(10, 1).order(0));
  EXPECT_NE(RoundOrder(10, 1).order(0), RoundOrder(10, 2).order(0));
  EXPECT_TRUE(RoundOrder(0, 1).order(0).empty());
}

}  // namespace
}  // namespace pgtune::session
