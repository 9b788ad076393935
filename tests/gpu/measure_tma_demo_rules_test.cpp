// SPDX-License-Identifier: MIT
// What the example template says it can and cannot do; needs no GPU.
#include <gtest/gtest.h>

#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::space {
namespace {

DeviceInfo hopper() {
  DeviceInfo device;
  device.compute_major = 9;
  device.sm_count = 132;
  device.smem_per_block_bytes = 232448;
  device.smem_per_sm_bytes = 233472;
  device.registers_per_sm = 65536;
  device.l2_bytes = 62914560;
  return device;
}

Problem packed(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return *with_default_strides(problem);
}

class TmaDemoRules : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = load_template(PGTUNE_SOURCE_DIR "/tests/templates/tma_demo.json",
                                [](const std::string& name) -> Result<std::string> {
                                  return fail(ErrorKind::kUsage, "no shipped header " + name);
                                });
    ASSERT_TRUE(loaded) << loaded.error().text();
    definition_ = std::move(*loaded);
  }

  [[nodiscard]] std::string refusal(const Problem& problem, const DeviceInfo& device = hopper()) const {
    const auto why = why_illegal(definition_, definition_.default_variant(), problem, device);
    EXPECT_TRUE(why) << why.error().text();
    return why && *why ? **why : "";
  }

  TemplateDefinition definition_;
};

TEST_F(TmaDemoRules, TakesRaggedShapesWithAlignedRows) {
  EXPECT_EQ(refusal(packed(1024, 1024, 1024)), "");
  EXPECT_EQ(refusal(packed(127, 132, 132)), "");
  const auto space = enumerate(definition_, packed(64, 64, 64), hopper());
  ASSERT_TRUE(space) << space.error().text();
  EXPECT_EQ(space->variants.size(), 6U);
}

TEST_F(TmaDemoRules, RefusesTheRestWithTheReason) {
  EXPECT_NE(refusal(packed(64, 64, 67)).find("multiples of 16 bytes"), std::string::npos);
  Problem batched = packed(64, 64, 64);
  batched.batch = 2;
  EXPECT_NE(refusal(batched).find("batch 1"), std::string::npos);
  Problem transposed = packed(64, 64, 64);
  transposed.trans_b = true;
  EXPECT_NE(refusal(transposed).find("layout nn"), std::string::npos);
  DeviceInfo ampere = hopper();
  ampere.compute_major = 8;
  EXPECT_NE(refusal(packed(64, 64, 64), ampere).find("sm_90a"), std::string::npos);
}

TEST_F(TmaDemoRules, PlanUsesEveryServiceOfTheContract) {
  const auto plan = make_launch_plan(definition_, definition_.default_variant(), packed(1000, 1000, 1000), hopper());
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_EQ(plan->kernels.size(), 2U);
  EXPECT_EQ(plan->kernels[0].grid, (Dim3{32, 16, 1}));
  EXPECT_EQ(plan->kernels[0].cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(plan->kernels[0].dynamic_smem_bytes, 2 * (64 * 16 + 16 * 64) * 4);
  ASSERT_TRUE(plan->kernels[0].l2_window);
  EXPECT_EQ(plan->workspace_bytes, 1000 * 1000 * 4);
  EXPECT_TRUE(plan->zero_workspace);
  ASSERT_EQ(plan->tensor_maps.size(), 2U);
  EXPECT_EQ(plan->tensor_maps[1].dims, (std::vector<std::int64_t>{1000, 1000}));
  EXPECT_EQ(plan->tensor_maps[1].strides_bytes, (std::vector<std::int64_t>{4000}));
  EXPECT_EQ(plan->tensor_maps[1].box, (std::vector<std::int64_t>{64, 16}));
}

}  // namespace
}  // namespace pgtune::space
