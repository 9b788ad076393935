// SPDX-License-Identifier: MIT
#include "tuner/model/occupancy.hpp"

#include <gtest/gtest.h>

#include "tuner/model/architectures.hpp"

namespace pgtune {
namespace {

// Expected values follow NVIDIA's occupancy calculator.
TEST(Occupancy, NamesWhatLimits) {
  const DeviceInfo h100 = architecture_info("sm_90a").value();
  const Occupancy by_registers = occupancy(h100, 128, 16384, 256);
  EXPECT_EQ(by_registers.ctas_per_sm, 2);
  EXPECT_EQ(by_registers.warps_per_sm, 16);
  EXPECT_DOUBLE_EQ(by_registers.fraction, 0.25);
  EXPECT_EQ(by_registers.limiter, "registers");

  const Occupancy by_smem = occupancy(h100, 32, 100 * 1024, 128);
  EXPECT_EQ(by_smem.ctas_per_sm, 2);
  EXPECT_EQ(by_smem.limiter, "shared memory");

  EXPECT_EQ(occupancy(h100, 32, 0, 1024).limiter, "registers");
  EXPECT_EQ(occupancy(h100, 16, 0, 1024).limiter, "threads");
  EXPECT_EQ(occupancy(h100, 16, 0, 32).ctas_per_sm, 32);
  EXPECT_EQ(occupancy(h100, 16, 0, 32).limiter, "CTA slots");
}

TEST(Occupancy, RegistersAreGivenInUnitsOfWarps) {
  const DeviceInfo h100 = architecture_info("sm_90a").value();
  // 129 registers round to 136 a thread: 15 warps by count, 12 in whole groups of four.
  EXPECT_EQ(occupancy(h100, 129, 0, 128).ctas_per_sm, 3);
  EXPECT_EQ(occupancy(h100, 255, 0, 288).ctas_per_sm, 0);
}

TEST(Occupancy, SmallerArchitecturesHaveFewerSlots) {
  EXPECT_EQ(occupancy(architecture_info("sm_86").value(), 16, 0, 32).ctas_per_sm, 16);
  EXPECT_EQ(occupancy(architecture_info("sm_89").value(), 16, 0, 32).ctas_per_sm, 24);
  EXPECT_EQ(occupancy(architecture_info("sm_120").value(), 16, 0, 32).ctas_per_sm, 24);
  EXPECT_EQ(occupancy(architecture_info("sm_100").value(), 16, 0, 32).ctas_per_sm, 32);
  EXPECT_FALSE(architecture_info("sm_12"));
  EXPECT_FALSE(architecture_info("sm_86a"));
  EXPECT_EQ(architecture_info("sm_86")->l2_bytes, 6 << 20);
}

TEST(Architectures, ThoseWithInstructionsOfTheirOwnAreCompiledForThem) {
  EXPECT_EQ(architecture_name(8, 6), "sm_86");
  for (const char* name : {"sm_90", "sm_100", "sm_120"}) {
    const std::string specific = std::string(name) + "a";
    EXPECT_EQ(architecture_info(name)->architecture, specific);
    EXPECT_EQ(architecture_info(specific)->architecture, specific);
  }
}

}  // namespace
}  // namespace pgtune
