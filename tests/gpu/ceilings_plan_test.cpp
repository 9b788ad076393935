// SPDX-License-Identifier: MIT
// Sizes of the kernels that measure the ceilings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/gpu/measure/ceilings/ceilings.hpp"

namespace pgtune::gpu {
namespace {

DeviceInfo h200() {
  DeviceInfo device;
  device.sm_count = 132;
  device.threads_per_sm = 2048;
  device.l2_bytes = 60LL << 20;
  return device;
}

TEST(CeilingsPlan, OfAnH200) {
  const auto plan = plan_ceilings(h200(), 140LL << 30);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->copy_bytes, 1LL << 30);
  EXPECT_EQ(plan->copy_bytes % kCopyCtaBytes, 0);
  EXPECT_DOUBLE_EQ(plan->dram_bytes(), 2.0 * (1LL << 30));
  EXPECT_EQ(plan->l2_pieces * kL2PieceBytes, 20LL << 20);
  EXPECT_EQ(plan->resident_ctas, 2 * 132);
  EXPECT_DOUBLE_EQ(plan->l2_bytes(), 264.0 * 128 * 65536);
  EXPECT_DOUBLE_EQ(plan->smem_bytes(), 264.0 * 1024 * 256 * 256);
  EXPECT_DOUBLE_EQ(plan->flops(), 2.0 * 264 * 1024 * 256 * 256);
}

TEST(CeilingsPlan, ALargerL2NeedsALargerCopy) {
  DeviceInfo device = h200();
  device.l2_bytes = 512LL << 20;
  EXPECT_EQ(plan_ceilings(device, 140LL << 30).value().copy_bytes, 4 * device.l2_bytes);
}

TEST(CeilingsPlan, LittleMemoryShrinksTheCopyDownToFourTimesL2) {
  const auto plan = plan_ceilings(h200(), 1LL << 30);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->copy_bytes, 256LL << 20);
  EXPECT_TRUE(plan_ceilings(h200(), 480LL << 20));
  const auto refused = plan_ceilings(h200(), 479LL << 20);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("free memory on the GPU"));
}

TEST(CeilingsPlan, EvenASmallGpuGetsWholePieces) {
  DeviceInfo device;
  device.sm_count = 3;
  device.threads_per_sm = 1536;
  device.l2_bytes = 100 << 10;
  const auto plan = plan_ceilings(device, 8LL << 30);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->resident_ctas, 3);
  EXPECT_EQ(plan->l2_pieces, 1);
  EXPECT_LE(plan->l2_pieces * kL2PieceBytes, plan->copy_bytes);
}

}  // namespace
}  // namespace pgtune::gpu
