// SPDX-License-Identifier: MIT
#include "tuner/search/likeness.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace pgtune::search {
namespace {

/// A = 16, 32 or 128 and a label, and a template of A alone.
class LikenessTest : public testing::Test {
 protected:
  const std::vector<Variant> variants_{{"tiles", {{"A", std::int64_t{16}}, {"ORDER", "rows"}}},
                                       {"tiles", {{"A", std::int64_t{32}}, {"ORDER", "rows"}}},
                                       {"tiles", {{"A", std::int64_t{128}}, {"ORDER", "rows"}}},
                                       {"tiles", {{"A", std::int64_t{16}}, {"ORDER", "snake"}}},
                                       {"tiles", {{"A", std::int64_t{16}}, {"ORDER", "tall"}}},
                                       {"line", {{"A", std::int64_t{16}}}}};
  const Likeness likeness_{SearchSpace{variants_, {5, 1}, {}, {}}};
};

TEST_F(LikenessTest, NumbersCountByTheirRankAndLabelsAreAllAsFarApart) {
  EXPECT_DOUBLE_EQ(likeness_.distance(0, 0), 0);
  EXPECT_DOUBLE_EQ(likeness_.distance(0, 1), 0.5);
  EXPECT_DOUBLE_EQ(likeness_.distance(0, 2), 1);
  EXPECT_DOUBLE_EQ(likeness_.distance(0, 3), 1);
  EXPECT_DOUBLE_EQ(likeness_.distance(3, 4), 1);
  EXPECT_DOUBLE_EQ(likeness_.distance(2, 4), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(likeness_.distance(0, 5), std::sqrt(2.0)) << "of two templates";
}

}  // namespace
}  // namespace pgtune::search
