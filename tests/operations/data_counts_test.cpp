// SPDX-License-Identifier: MIT
// What is counted in a buffer of whole numbers as the GPU holds it.
#include "tuner/gpu/measure/check/tensors.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace pgtune::gpu {
namespace {

OperationBuffer buffer_of(ElementType type, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
  OperationBuffer buffer;
  buffer.type = type;
  buffer.extents = std::move(extents);
  buffer.strides = std::move(strides);
  return buffer;
}

template <typename Integer>
double counted(CountKind kind, const OperationBuffer& buffer, const std::vector<Integer>& stored,
               std::int64_t bound = 0) {
  OperationCount count;
  count.kind = kind;
  count.bound = bound;
  return count_elements(count, buffer, std::as_bytes(std::span(stored)));
}

TEST(DataCounts, OfNumbersInARow) {
  const OperationBuffer row = buffer_of(ElementType::kInt32, {6}, {1});
  const std::vector<std::int32_t> stored{0, 3, 3, -2, 2'000'000'000, 2'000'000'000};
  EXPECT_EQ(counted(CountKind::kSum, row, stored), 4'000'000'004.0);
  EXPECT_EQ(counted(CountKind::kAbove, row, stored), 4);
  EXPECT_EQ(counted(CountKind::kAbove, row, stored, 3), 2);
  EXPECT_EQ(counted(CountKind::kAbove, row, stored, -3), 6);
  EXPECT_EQ(counted(CountKind::kNonzero, row, stored), 5);
  EXPECT_EQ(counted(CountKind::kIncreases, row, stored), 2);
  EXPECT_EQ(counted(CountKind::kMax, row, stored), 2'000'000'000);
}

TEST(DataCounts, WhatLiesBetweenElementsIsNone) {
  // Two rows of three, four apart.
  const OperationBuffer padded = buffer_of(ElementType::kInt8, {2, 3}, {4, 1});
  const std::vector<std::int8_t> stored{1, 0, -128, 99, -4, 5, 0};
  EXPECT_EQ(counted(CountKind::kSum, padded, stored), -126);
  EXPECT_EQ(counted(CountKind::kNonzero, padded, stored), 4);
  EXPECT_EQ(counted(CountKind::kMax, padded, stored), 5);
}

TEST(DataCounts, FollowIndicesAndNotMemory) {
  // Elements that lie in the other order: index 0 of the first dimension has 1, 3, 5.
  const OperationBuffer across = buffer_of(ElementType::kInt32, {3, 2}, {1, 3});
  EXPECT_EQ(counted(CountKind::kSum, across, std::vector<std::int32_t>{1, 3, 5, 2, 4, 6}), 21);
  const OperationBuffer every_second = buffer_of(ElementType::kInt32, {3}, {2});
  EXPECT_EQ(counted(CountKind::kIncreases, every_second, std::vector<std::int32_t>{1, 9, 1, 9, 2}), 1);
}

TEST(DataCounts, ALargestOneMayBeNegative) {
  const OperationBuffer row = buffer_of(ElementType::kInt32, {2}, {1});
  EXPECT_EQ(counted(CountKind::kMax, row, std::vector<std::int32_t>{-7, -3}), -3);
}

}  // namespace
}  // namespace pgtune::gpu
