// SPDX-License-Identifier: MIT
// Which rows of a large result are compared, and copies between host buffers by several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "pipeline/exported/staging.hpp"
#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/worker/result_check.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::SizeIs;

TEST(CheckedRows, AreAllWhereThatIsAffordable) {
  EXPECT_THAT(pipeline::checked_rows(1000, 1000), SizeIs(1));
  EXPECT_EQ(pipeline::checked_rows(1000, 5000).front().extent, 1000);
  EXPECT_GE(pipeline::affordable_rows(parse_shape("4096x4096x4096").value()), 4096);
}

TEST(CheckedRows, OfALargeResultEveryChunkHasSome) {
  const Problem problem = parse_shape("1048576x16384x16384").value();
  const std::int64_t affordable = pipeline::affordable_rows(problem);
  EXPECT_LT(affordable, problem.m);
  const auto blocks = pipeline::checked_rows(problem.m, affordable);
  std::int64_t rows = 0;
  for (const pipeline::Chunk& block : blocks) rows += block.extent;
  EXPECT_LE(rows, affordable);
  EXPECT_EQ(blocks.front().first, 0);
  EXPECT_EQ(blocks.back().first + blocks.back().extent, problem.m);
  for (const std::int64_t extent : pipeline::chunk_extents(problem, pipeline::Cut::kM)) {
    for (const pipeline::Chunk& chunk : pipeline::chunks_of(problem, pipeline::Cut::kM, extent)) {
      EXPECT_TRUE(std::any_of(blocks.begin(), blocks.end(), [&](const pipeline::Chunk& block) {
        return block.first < chunk.first + chunk.extent && chunk.first < block.first + block.extent;
      })) << chunk.first;
    }
  }
}

TEST(CheckedRows, NeverOverlap) {
  for (const std::int64_t rows : {130, 131, 200, 1000, 4097}) {
    for (const std::int64_t most : {1, 2, 129, 130, 150, 999}) {
      std::int64_t end = 0;
      for (const pipeline::Chunk& block : pipeline::checked_rows(rows, most)) {
        EXPECT_GE(block.first, end) << rows << " " << most;
        end = block.first + block.extent;
      }
      EXPECT_LE(end, rows) << rows << " " << most;
    }
  }
}

TEST(ExportedCopier, CopiesEveryByteOnceWhateverThePitch) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    pgtune_pipeline::detail::Copier copier(threads);
    for (const std::size_t rows : {1, 3, 64}) {
      for (const std::size_t to_pitch : {7, 9}) {
        std::vector<char> from(rows * 8), to(rows * to_pitch);
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i % 125 + 1);
        copier.copy({to.data(), from.data(), to_pitch, 8, 7, rows});
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t i = 0; i < to_pitch; ++i) {
            const char expected = i < 7 ? from[row * 8 + i] : '\0';
            ASSERT_EQ(to[row * to_pitch + i], expected) << threads << " " << rows;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace pgtune::gpu
