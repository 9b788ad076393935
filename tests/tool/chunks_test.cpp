// SPDX-License-Identifier: MIT

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tool/pgtune/cluster/slurm_script.hpp"

namespace pgtune::tool {
namespace {

using ::testing::ElementsAre;

TEST(Chunks, AreBalancedByTime) {
  const std::vector<Chunk> chunks = balanced_chunks({1, 9, 2, 3, 4, 5}, 3);
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_THAT(chunks[0].items, ElementsAre(1));
  EXPECT_THAT(chunks[1].items, ElementsAre(0, 2, 5));
  EXPECT_THAT(chunks[2].items, ElementsAre(3, 4));
  EXPECT_DOUBLE_EQ(chunks[0].expected_s, 9);
  EXPECT_DOUBLE_EQ(chunks[1].expected_s, 8);
  EXPECT_DOUBLE_EQ(chunks[2].expected_s, 7);
}

TEST(Chunks, HoldEveryItemOnceAndNoneIsEmpty) {
  std::vector<double> times(500);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<double>(i * 7919 % 61);
  const std::vector<Chunk> chunks = balanced_chunks(times, 64);
  std::vector<std::size_t> all;
  double longest = 0, total = 0;
  for (const Chunk& chunk : chunks) {
    EXPECT_FALSE(chunk.items.empty());
    all.insert(all.end(), chunk.items.begin(), chunk.items.end());
    longest = std::max(longest, chunk.expected_s);
    total += chunk.expected_s;
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), times.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i);
  EXPECT_LE(longest, 1.05 * total / 64);

  EXPECT_EQ(balanced_chunks({1, 2}, 5).size(), 2U);
  for (const Chunk& chunk : balanced_chunks({0, 0, 0, 0}, 2)) EXPECT_EQ(chunk.items.size(), 2U);
}

TEST(SlurmTime, IsReadAsSbatchReadsIt) {
  EXPECT_DOUBLE_EQ(parse_slurm_time("90").value(), 90 * 60);
  EXPECT_DOUBLE_EQ(parse_slurm_time("10:30").value(), 630);
  EXPECT_DOUBLE_EQ(parse_slurm_time("02:00:00").value(), 7200);
  EXPECT_DOUBLE_EQ(parse_slurm_time("1-12").value(), 36 * 3600);
  EXPECT_DOUBLE_EQ(parse_slurm_time("1-12:30").value(), 36.5 * 3600);
  EXPECT_DOUBLE_EQ(parse_slurm_time("2-00:00:30").value(), 48 * 3600 + 30);
  for (const char* wrong : {"", "0", "60s", "2h", "1:2:3:4", "-5", "1-", "1:", "12 ", "00:00:00", "99999999999"})
    EXPECT_FALSE(parse_slurm_time(wrong)) << wrong;
}

}  // namespace
}  // namespace pgtune::tool
