// SPDX-License-Identifier: MIT
// Whatever way persistent workers share tiles, each k-block of each tile is computed once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/templates/on_host.hpp"
// After what it needs.
#include "templates/device/scheduler/tile_work.cuh"

namespace pgtune {
namespace {

struct Cover {
  std::vector<std::vector<int>> times;    ///< [tile][k-block] computed
  std::vector<std::vector<int>> workers;  ///< [tile]: the workers with k-blocks of it, in order
  int most = 0, least = 1 << 30;          ///< k-blocks of a worker
};

Cover cover(const TileWork& work) {
  Cover out{std::vector<std::vector<int>>(work.tiles, std::vector<int>(work.blocks)),
            std::vector<std::vector<int>>(work.tiles)};
  for (int worker = 0; worker < work.workers; ++worker) {
    Segment segment;
    int blocks = 0;
    for (int i = 0; work.segment(segment, i, worker); ++i) {
      EXPECT_LT(segment.first, segment.last);
      for (int block = segment.first; block < segment.last; ++block) ++out.times.at(segment.tile).at(block);
      out.workers.at(segment.tile).push_back(worker);
      blocks += segment.last - segment.first;
    }
    out.most = std::max(out.most, blocks);
    out.least = std::min(out.least, blocks);
  }
  return out;
}

void expect_once(const Cover& found) {
  for (const auto& tile : found.times) {
    for (const int times : tile) ASSERT_EQ(times, 1);
  }
}

TEST(TileWork, WholeTilesAreDealtInTurn) {
  for (const int tiles : {1, 131, 132, 133, 512}) {
    const Cover found = cover({tiles, 7, 132, Decomposition::kDataParallel});
    expect_once(found);
    for (const auto& workers : found.workers) EXPECT_EQ(workers.size(), 1U);
  }
}

TEST(TileWork, StreamKGivesEveryWorkerTheSame) {
  for (const int workers : {1, 2, 66, 132}) {
    for (const int tiles : {1, 5, 64, 131, 132, 133, 200, 263, 264, 512}) {
      for (const int blocks : {1, 2, 31, 256}) {
        if (static_cast<long long>(tiles) * blocks < 2LL * workers) continue;
        SCOPED_TRACE(fmt::format("{} tiles of {} k-blocks, {} workers", tiles, blocks, workers));
        const Cover found = cover({tiles, blocks, workers, Decomposition::kStreamK});
        expect_once(found);
        EXPECT_LE(found.most - found.least, 1);
        for (const auto& of_tile : found.workers) {
          EXPECT_TRUE(std::is_sorted(of_tile.begin(), of_tile.end()));
          if (tiles >= workers) {
            EXPECT_LE(of_tile.size(), 2U) << "one worker finishes what one other began";
          }
        }
      }
    }
  }
}

TEST(TileWork, SplitKCutsEachTileIntoTheSameNumberOfParts) {
  for (const int tiles : {1, 3, 16, 66}) {
    for (const int blocks : {2, 8, 31, 256}) {
      const int parts = std::min(132 / tiles, blocks);
      SCOPED_TRACE(fmt::format("{} tiles of {} k-blocks in {} parts", tiles, blocks, parts));
      const Cover found = cover({tiles, blocks, tiles * parts, Decomposition::kSplitK});
      expect_once(found);
      EXPECT_LE(found.most - found.least, 1);
      for (const auto& workers : found.workers) EXPECT_EQ(workers.size(), static_cast<std::size_t>(parts));
    }
  }
}

TEST(TileWork, ALongSumDoesNotOverflow) {
  const TileWork work{16, 1 << 26, 128, Decomposition::kSplitK};
  Segment segment;
  ASSERT_TRUE(work.segment(segment, 0, 127));
  EXPECT_EQ(segment.tile, 15);
  EXPECT_EQ(segment.last, 1 << 26);
  EXPECT_EQ(segment.first, (1 << 26) / 8 * 7);
}

}  // namespace
}  // namespace pgtune
