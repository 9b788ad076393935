// SPDX-License-Identifier: MIT
// Which M of a family are measured.
#include "tuner/session/family/classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace pgtune::session {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// One variant with these facts at each M.
std::vector<std::int64_t> tops(std::int64_t first, std::int64_t last,
                               const std::function<space::VariantFacts(std::int64_t)>& facts) {
  return class_tops(first, last, [&](std::int64_t m) { return std::vector{facts(m)}; });
}

space::VariantFacts same(std::int64_t /*m*/) { return {true, 1, 100}; }

TEST(ClassTops, WhereNothingChangesTheyAreAGrid) {
  const auto grid = tops(5, 16384, same);
  EXPECT_EQ(grid.size(), 32U + 16U + 56U + 32U + 32U);
  EXPECT_THAT(std::vector(grid.begin(), grid.begin() + 10), ElementsAre(8, 16, 24, 32, 40, 48, 56, 64, 72, 80));
  EXPECT_THAT(std::vector(grid.end() - 3, grid.end()), ElementsAre(15872, 16128, 16384));
  EXPECT_EQ(grid, class_grid(5, 16384));
  EXPECT_THAT(tops(300, 400, same), ElementsAre(304, 320, 336, 352, 368, 384, 400));
  EXPECT_THAT(tops(1, 12, same), ElementsAre(1, 2, 4, 8, 12));
  EXPECT_THAT(tops(7, 7, same), ElementsAre(7));
}

TEST(ClassTops, AreAlsoWhereTheCheapestCostsLess) {
  const auto tiles_of_200 = [](std::int64_t m) {
    return space::VariantFacts{true, 1, 1000.0 * static_cast<double>(ceil_div(m, 200))};
  };
  EXPECT_THAT(tops(500, 700, tiles_of_200), ElementsAre(512, 576, 600, 640, 700));
  const auto dearer = [&](std::int64_t m) {
    return std::vector{tiles_of_200(m), space::VariantFacts{true, 1, 1e6 + 1000.0 * static_cast<double>(m)}};
  };
  EXPECT_EQ(class_tops(500, 700, dearer), tops(500, 700, tiles_of_200)) << "what another one costs does not count";
}

TEST(ClassTops, WhatIsIllegalOrHasNoCostDoesNotCount) {
  const auto two = [](std::int64_t m) {
    return std::vector{space::VariantFacts{m <= 600, 1, 100}, space::VariantFacts{true, 1, 200},
                       space::VariantFacts{true, 1, 0}};
  };
  EXPECT_THAT(class_tops(520, 700, two), ElementsAre(576, 600, 640, 700));
}

TEST(BuildChanges, AreOfAnyVariant) {
  const auto two = [](std::int64_t m) {
    return std::vector{space::VariantFacts{m != 6, 1, 100},
                       space::VariantFacts{true, m % 8 == 0 ? 2U : 1U, static_cast<double>(m)}};
  };
  EXPECT_THAT(build_changes(3, 16, two), ElementsAre(5, 6, 7, 8, 15));
  EXPECT_THAT(build_changes(9, 15, two), ElementsAre());
  EXPECT_THAT(build_changes(8, 8, two), ElementsAre());
}

TEST(ClassTops, CostsThatGrowSlowlyMakeNone) {
  const auto slowly = [](std::int64_t m) { return space::VariantFacts{true, 1, 1e6 + 500.0 * static_cast<double>(m)}; };
  EXPECT_EQ(tops(1025, 2048, slowly).size(), 16U);
}

TEST(Anchors, SpanTheRange) {
  EXPECT_THAT(anchors(1, 8192), ElementsAre(1, 8, 64, 256, 512, 1024, 2048, 8192));
  EXPECT_THAT(anchors(1, 1), ElementsAre(1));
  EXPECT_THAT(anchors(100, 150), ElementsAre(100, 150));
  EXPECT_THAT(anchors(50, 700), ElementsAre(50, 256, 700)) << "64 and 512 are too near to the ends";
  EXPECT_THAT(anchors(1, 12), ElementsAre(1, 12)) << "12 is half again as much as 8";
  EXPECT_THAT(anchors(1, 13), ElementsAre(1, 8, 13));
  EXPECT_THAT(anchors(1024, 100'000), ElementsAre(1024, 2048, 8192, 32768, 100'000));
}

TEST(SettledLadder, GoesDownByHalvesToTheFirstThatMeetsTheCap) {
  const std::vector<std::int64_t> tops{64, 128, 192, 256, 320, 512, 600, 900};
  EXPECT_THAT(settled_ladder(tops, [](std::int64_t m) { return m > 128; }), ElementsAre(900, 320));
  EXPECT_THAT(settled_ladder(tops, [](std::int64_t /*m*/) { return false; }), ElementsAre());
  EXPECT_THAT(settled_ladder({1, 2}, [](std::int64_t /*m*/) { return true; }), ElementsAre(2, 1));
}

TEST(Probes, AreDrawnFromWhatWasNotUsed) {
  std::vector<std::int64_t> used;
  for (std::int64_t m = 1; m <= 8192; ++m) {
    if (m % 3 != 0) used.push_back(m);
  }
  const auto drawn = draw_probes(1, 8192, 16, used, 1);
  EXPECT_EQ(drawn.size(), 16U);
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), 16U);
  for (const std::int64_t m : drawn) EXPECT_EQ(m % 3, 0) << m;
  EXPECT_EQ(draw_probes(1, 8192, 16, used, 1), drawn);
  EXPECT_NE(draw_probes(1, 8192, 16, used, 2), drawn);
}

TEST(Probes, AreLogUniform) {
  const auto drawn = draw_probes(1, 65536, 200, {}, 3);
  const auto below = std::count_if(drawn.begin(), drawn.end(), [](std::int64_t m) { return m <= 256; });
  // Each small M is drawn once at most, so that fewer than half lie below the middle of the logarithms.
  EXPECT_GT(below, 60);
  EXPECT_LT(below, 110);
}

TEST(Probes, LieInEqualPartsOfTheLogarithmicScale) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto eight = draw_probes(1, 65535, 8, {}, seed);
    std::vector<std::int64_t> parts;
    for (const std::int64_t m : eight) parts.push_back(static_cast<std::int64_t>(std::log2(m) / 2));
    EXPECT_THAT(parts, UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7)) << seed;
    const auto five = draw_probes(1, 65535, 5, {}, seed);
    EXPECT_TRUE(std::equal(five.begin(), five.end(), eight.begin())) << "more are the same and further ones";
    EXPECT_NE(parts[0] / 4, parts[1] / 4) << "the first two lie in different halves";
  }
}

/// Two intervals, whose launches take so long.
Family family_to_compare(double time_s) {
  Family family;
  family.problem.m = 8192;
  family.intervals = {{.last_m = 1000, .time_s = time_s}, {.last_m = 8192, .time_s = time_s}};
  return family;
}

TEST(ComparedM, AreAllWhereThatIsQuick) {
  const auto all = draw_compared(family_to_compare(1e-3), 1);
  EXPECT_EQ(all.size(), 8192U);
  EXPECT_EQ(all.front(), 1);
  EXPECT_EQ(all.back(), 8192);
}

TEST(ComparedM, AreElseAsManyAsThereIsTimeFor) {
  const auto some = draw_compared(family_to_compare(8.8e-3), 1);
  EXPECT_NEAR(static_cast<double>(some.size()), 2000, 2) << "of 10 ms each, in 20 s";
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  const std::set<std::int64_t> set(some.begin(), some.end());
  EXPECT_EQ(set.size(), some.size());
  for (std::int64_t m = 1; m <= 256; ++m) EXPECT_TRUE(set.contains(m));
  for (const std::int64_t m : {1000, 1001, 8192}) EXPECT_TRUE(set.contains(m));
  EXPECT_EQ(draw_compared(family_to_compare(8.8e-3), 1), some);
  EXPECT_NE(draw_compared(family_to_compare(8.8e-3), 2), some);
  EXPECT_EQ(draw_compared(family_to_compare(1), 1).size(), 259U) << "whatever the time";
}

TEST(Probes, ThereMayBeFewerM) {
  EXPECT_THAT(draw_probes(1, 4, 8, std::vector<std::int64_t>{2, 4}, 1), UnorderedElementsAre(1, 3));
  EXPECT_THAT(draw_probes(5, 5, 8, std::vector<std::int64_t>{5}, 1), ElementsAre());
  EXPECT_THAT(draw_probes(1, 100, 0, {}, 1), ElementsAre());
}

}  // namespace
}  // namespace pgtune::session
