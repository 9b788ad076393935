// SPDX-License-Identifier: MIT
// Where buffers lie in memory that has nothing mapped around it. That accesses beyond it fault is shown by
// faults_device_test.cpp.
#include <gtest/gtest.h>

#include "tuner/gpu/measure/check/guarded_memory.hpp"

namespace pgtune::gpu {
namespace {

constexpr DeviceSpan kMapped{std::uint64_t{3} << 30, std::int64_t{4} << 20};

TEST(GuardedMemory, ABufferAtTheStartHasNothingBeforeIt) {
  const DeviceSpan buffer = place_at(kMapped, 1'000'003, MemoryEdge::kStart);
  EXPECT_EQ(buffer.address, kMapped.address);
  EXPECT_EQ(buffer.bytes, 1'000'003);
  const auto [before, after] = around(kMapped, buffer);
  EXPECT_EQ(before.bytes, 0);
  EXPECT_EQ(after.address, kMapped.address + 1'000'003);
  EXPECT_EQ(after.bytes, kMapped.bytes - 1'000'003);
}

TEST(GuardedMemory, ABufferAtTheEndLeavesNoMoreThanItsAlignmentAfterIt) {
  for (const std::int64_t bytes : {1, 255, 256, 257, 1'000'003, 4 << 20}) {
    const DeviceSpan buffer = place_at(kMapped, bytes, MemoryEdge::kEnd);
    EXPECT_EQ(buffer.address % kGuardedAlignment, 0U) << bytes;
    EXPECT_GE(buffer.address, kMapped.address) << bytes;
    const auto [before, after] = around(kMapped, buffer);
    EXPECT_LT(after.bytes, kGuardedAlignment) << bytes;
    EXPECT_GE(after.bytes, 0) << bytes;
    EXPECT_EQ(before.bytes + buffer.bytes + after.bytes, kMapped.bytes) << bytes;
    EXPECT_EQ(after.address, buffer.address + static_cast<std::uint64_t>(bytes)) << bytes;
  }
}

TEST(GuardedMemory, OfNoBytesIsNothing) {
  const auto memory = GuardedMemory::allocate({}, 0);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->mapped().bytes, 0);
}

}  // namespace
}  // namespace pgtune::gpu
