// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kL2 = 60'000'000;
constexpr std::int64_t kPlenty = 100'000'000'000;

Extent extent_of(const OperandLayout& layout, Operand operand) {
  return layout.buffers.at(buffer_of_operand(operand).value());
}

Problem ragged_problem(double beta) {
  Problem problem;
  problem.m = 127;
  problem.n = 129;
  problem.k = 131;
  problem.batch = 3;
  problem.lda = 133;
  problem.ldb = 130;
  problem.ldc = 137;
  problem.beta = beta;
  return problem;
}

TEST(CopyCount, OneWhereASetIsAsLargeAsTheWholeRotation) {
  EXPECT_EQ(copy_count(64 * kL2, 64 * kL2, kL2, kPlenty), 1);
  EXPECT_GT(copy_count(64 * kL2 - 1, 64 * kL2 - 1, kL2, kPlenty), 1);
}

TEST(CopyCount, SixtyFourTimesTheL2PassesBeforeASetComesRound) {
  EXPECT_EQ(copy_count(201'326'592, 201'400'000, kL2, kPlenty), 21);
  EXPECT_EQ(copy_count(12'000'000, 12'100'000, kL2, kPlenty), 321);
}

TEST(CopyCount, StaysInsideAQuarterOfTheFreeMemory) {
  EXPECT_EQ(copy_count(12'000'000, 12'000'000, kL2, 12'000'000 * 4 * 5), 5);
  EXPECT_EQ(copy_count(12'000'000, 12'000'000, kL2, 1), 1);
}

TEST(CopyCount, TinyProblemsAreCapped) { EXPECT_EQ(copy_count(12, 24'000, kL2, kPlenty), kMaxCopies); }

class Layout : public testing::TestWithParam<std::pair<double, bool>> {};

TEST_P(Layout, BuffersAreAlignedInsideTheCopyAndSeparatedByGuards) {
  Problem problem = ragged_problem(GetParam().first);
  problem.epilogue.bias = GetParam().second;
  const OperandLayout layout = operand_layout(numbers_of(problem));
  EXPECT_EQ(extent_of(layout, Operand::kA).bytes, 127 * 133 * 3 * 4);
  EXPECT_EQ(extent_of(layout, Operand::kB).bytes, 131 * 130 * 3 * 4);
  EXPECT_EQ(extent_of(layout, Operand::kD).bytes, 127 * 137 * 3 * 4);

  std::vector<Extent> extents{extent_of(layout, Operand::kA), extent_of(layout, Operand::kB),
                              extent_of(layout, Operand::kD)};
  if (problem.beta != 0) extents.push_back(extent_of(layout, Operand::kC));
  if (problem.epilogue.bias) {
    EXPECT_EQ(extent_of(layout, Operand::kBias).bytes, 129 * 4);
    extents.push_back(extent_of(layout, Operand::kBias));
  }
  for (const Extent& extent : extents) EXPECT_EQ(extent.offset % kBufferAlignment, 0);
  for (const GuardZone& zone : layout.guards) {
    EXPECT_GE(zone.extent.bytes, kGuardBytes) << zone.place;
    EXPECT_EQ(zone.extent.bytes % 4, 0) << zone.place;
    extents.push_back(zone.extent);
  }
  // Buffers and guards tile the copy: no byte is in two of them or in none.
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::int64_t end = 0;
  for (const Extent& extent : extents) {
    EXPECT_EQ(extent.offset, end);
    end = extent.offset + extent.bytes;
  }
  EXPECT_EQ(end, layout.copy_bytes);
}

INSTANTIATE_TEST_SUITE_P(BetaAndBias, Layout,
                         testing::Values(std::pair{0.0, false}, std::pair{0.5, false}, std::pair{0.0, true},
                                         std::pair{0.5, true}));

TEST(OperandLayout, GuardsLieAroundTheBias) {
  Problem problem = ragged_problem(1);
  problem.epilogue.bias = true;
  std::vector<std::string> places;
  for (const GuardZone& zone : operand_layout(numbers_of(problem)).guards) places.push_back(zone.place);
  EXPECT_EQ(places, (std::vector<std::string>{"before A", "between A and B", "between B and C",
                                              "between C and the bias", "between the bias and D", "after D"}));
  constexpr std::size_t kBuffers = 6;  // each of the guarded ones, a workspace among them, has two
  EXPECT_LE(2 * kBuffers, kMaxGuards);
}

TEST(OperandLayout, WithoutABiasItsPointerIsTheResults) {
  const OperandSet set = operand_layout(numbers_of(ragged_problem(0))).at(4096);
  EXPECT_EQ(set[Operand::kBias].address, set[Operand::kD].address);
}

TEST(OperandLayout, WithoutBetaTheAddendIsTheResultsBuffer) {
  const OperandSet set = operand_layout(numbers_of(ragged_problem(0))).at(4096);
  EXPECT_EQ(set[Operand::kC].address, set[Operand::kD].address);
  const OperandSet with_beta = operand_layout(numbers_of(ragged_problem(1))).at(4096);
  EXPECT_NE(with_beta[Operand::kC].address, with_beta[Operand::kD].address);
  EXPECT_EQ(with_beta[Operand::kA].address, 4096U + 4096U);
}

TEST(OperandLayout, GuardsNextToTheResultAreItsOwn) {
  const OperandLayout layout = operand_layout(numbers_of(ragged_problem(0)));
  ASSERT_EQ(layout.guards.size(), 4U);
  EXPECT_FALSE(layout.guards[0].around_result);
  EXPECT_TRUE(layout.guards[2].around_result);
  EXPECT_EQ(layout.guards[3].place, "after D");
}

TEST(OperandLayout, EveryTypeIsGuardedToTheByte) {
  Problem problem = ragged_problem(0.5);
  problem.dtype = Dtype::kE4m3;  // odd byte counts for A and B, an odd number of two-byte elements of C and D
  const OperandLayout layout = operand_layout(numbers_of(problem));
  EXPECT_EQ(extent_of(layout, Operand::kA).bytes, 127 * 133 * 3);
  EXPECT_EQ(extent_of(layout, Operand::kD).bytes, 127 * 137 * 3 * 2);
  EXPECT_EQ(extent_of(layout, Operand::kC).bytes, extent_of(layout, Operand::kD).bytes);
  EXPECT_EQ(layout.guards[1].extent.offset,
            extent_of(layout, Operand::kA).offset + extent_of(layout, Operand::kA).bytes);
  EXPECT_EQ(layout.guards.back().extent.offset,
            extent_of(layout, Operand::kD).offset + extent_of(layout, Operand::kD).bytes);
  problem.dtype = Dtype::kBf16;
  problem.output = ElementType::kFloat32;
  EXPECT_EQ(extent_of(operand_layout(numbers_of(problem)), Operand::kA).bytes, 127 * 133 * 3 * 2);
  EXPECT_EQ(extent_of(operand_layout(numbers_of(problem)), Operand::kD).bytes, 127 * 137 * 3 * 4);
}

TEST(OperandLayout, ThePoisonIsNoNumberInAnyTypeOfTheResult) {
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(kPoison)));
  for (const std::uint32_t half : {kPoison & 0xffffU, kPoison >> 16}) {
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(half << 16))) << "as bfloat16";
    EXPECT_GT(half & 0x7fffU, 0x7c00U) << "as float16";
  }
}

}  // namespace
}  // namespace pgtune::gpu
