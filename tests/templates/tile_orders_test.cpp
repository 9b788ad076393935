// SPDX-License-Identifier: MIT
// Rasterizations visit each of them once, whatever the raster groups.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "templates/device/scheduler/rasterization.cuh"

namespace pgtune {
namespace {

template <bool kAlongM, unsigned kGroup>
PreparedRasterization<kAlongM, kGroup> prepared(unsigned rows, unsigned columns, int batches) {
  constexpr int kMost = 0x7fffffff;
  const unsigned across = kAlongM ? columns : rows;
  const unsigned in_last = across - kGroup * last_raster_group<kGroup>(across);
  return {rows, columns, batches, kMost / static_cast<int>(kAlongM ? rows : columns),
          kMost / static_cast<int>(in_last)};
}

template <bool kAlongM, unsigned kGroup>
void expect_each_tile_once(unsigned rows, unsigned columns, int batches) {
  std::set<std::pair<int, std::pair<int, int>>> seen;
  const unsigned count = rows * columns * static_cast<unsigned>(batches);
  for (unsigned index = 0; index < count; ++index) {
    const TileCoord at = rasterized_tile<kAlongM, kGroup>(index, rows, columns, batches);
    const TileCoord same = prepared<kAlongM, kGroup>(rows, columns, batches).tile(index);
    EXPECT_TRUE(same.row == at.row && same.column == at.column && same.batch == at.batch);
    EXPECT_TRUE(at.row >= 0 && at.row < static_cast<int>(rows));
    EXPECT_TRUE(at.column >= 0 && at.column < static_cast<int>(columns));
    EXPECT_TRUE(at.batch >= 0 && at.batch < batches);
    seen.insert({at.batch, {at.row, at.column}});
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(Rasterization, GroupsVisitEachTileOnce) {
  for (const unsigned rows : {1U, 7U, 8U, 9U, 14U, 22U, 33U}) {
    for (const unsigned columns : {1U, 5U, 16U, 26U}) {
      for (const int batches : {1, 3}) {
        expect_each_tile_once<false, 1>(rows, columns, batches);
        expect_each_tile_once<false, 2>(rows, columns, batches);
        expect_each_tile_once<false, 4>(rows, columns, batches);
        expect_each_tile_once<false, 8>(rows, columns, batches);
        expect_each_tile_once<true, 8>(rows, columns, batches);
        expect_each_tile_once<true, 16>(rows, columns, batches);
      }
    }
  }
}

TEST(Rasterization, TheLastGroupIsHalfAsWideAsTheOthersAtLeast) {
  EXPECT_EQ(last_raster_group<4>(5), 0U) << "five";
  EXPECT_EQ(last_raster_group<4>(6), 1U) << "four and two";
  EXPECT_EQ(last_raster_group<4>(9), 1U) << "four and five";
  EXPECT_EQ(last_raster_group<1>(3), 2U);
  const TileCoord at = rasterized_tile<false, 4>(4 * 3 + 4, 9, 3, 1);
  EXPECT_TRUE(at.row == 8 && at.column == 0) << "the fifth of the second group";
}

TEST(Rasterization, APreparedQuotientIsExact) {
  constexpr unsigned long long kMost = 0x7fffffff;
  for (const unsigned long long by :
       {1ULL, 2ULL, 3ULL, 7ULL, 63ULL, 64ULL, 641ULL, 46341ULL, 65535ULL, 65536ULL, 1ULL << 30, kMost - 1, kMost}) {
    const int inverse = static_cast<int>(kMost / by);
    for (const unsigned long long times : {0ULL, 1ULL, 2ULL, 3ULL, 1000ULL, kMost / by}) {
      for (unsigned long long n = times * by < 3 ? 0 : times * by - 3; n <= std::min(times * by + 3, kMost); ++n) {
        const unsigned quotient = quotient_by_inverse(static_cast<unsigned>(n), static_cast<unsigned>(by), inverse);
        EXPECT_EQ(quotient, n / by) << n << " / " << by;
      }
    }
  }
}

TEST(Rasterization, AGroupOfRowsIsWalkedAlongN) {
  const auto at = [](unsigned index) { return grouped_tile<2>(index, 5, 3); };
  EXPECT_TRUE(at(0).row == 0 && at(0).column == 0);
  EXPECT_TRUE(at(1).row == 1 && at(1).column == 0);
  EXPECT_TRUE(at(2).row == 0 && at(2).column == 1);
  EXPECT_TRUE(at(6).row == 2 && at(6).column == 0);
  EXPECT_TRUE(at(14).row == 4 && at(14).column == 2);
}

}  // namespace
}  // namespace pgtune
