// SPDX-License-Identifier: MIT
// The space of gemm_wgmma: small enough to be measured, its seeds in it, and rules that keep out what cannot be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/space/sample_template.hpp"
#include "tests/space/shipped_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::space {
namespace {

using testing::device;

const TemplateDefinition& wgmma() {
  static const TemplateDefinition definition = testing::shipped_template("gemm_wgmma");
  return definition;
}

Problem typed(MathMode mode, std::int64_t m, std::int64_t n, std::int64_t k, std::string_view layout = "nt") {
  return testing::shaped_problem(mode, {.m = m, .n = n, .k = k}, layout);
}

/// The presets of a few problems of every kind: large, one round of tiles, long sums, few rows. Each is made once,
/// because that takes a quarter of a second.
const std::vector<std::vector<Variant>>& presets(MathMode mode) {
  static std::map<MathMode, std::vector<std::vector<Variant>>> known;
  auto& all = known[mode];
  if (all.empty()) {
    for (const auto& [m, n, k] :
         {std::tuple{5120, 5120, 4096}, std::tuple{2048, 2048, 2048}, std::tuple{256, 256, 16384},
          std::tuple{64, 2048, 4096}, std::tuple{16, 4096, 4096}}) {
      const auto space = enumerate(wgmma(), typed(mode, m, n, k), device());
      EXPECT_TRUE(space) << space.error().text();
      if (space) all.push_back(space->variants);
    }
  }
  return all;
}

bool is_tried(const Variant& variant, MathMode mode) {
  return std::any_of(presets(mode).begin(), presets(mode).end(), [&](const std::vector<Variant>& preset) {
    return std::find(preset.begin(), preset.end(), variant) != preset.end();
  });
}

class WgmmaModes : public ::testing::TestWithParam<MathMode> {};

TEST_P(WgmmaModes, PresetsTakeAMinuteAndHoldSeeds) {
  ASSERT_EQ(presets(GetParam()).size(), 5U);
  for (const std::vector<Variant>& preset : presets(GetParam())) {
    EXPECT_GE(preset.size(), 30U);
    EXPECT_LE(preset.size(), 300U);
  }
  EXPECT_GE(std::count_if(wgmma().seeds.begin(), wgmma().seeds.end(),
                          [](const Variant& seed) { return is_tried(seed, GetParam()); }),
            5);
}

TEST(WgmmaSpace, EverySeedIsInThePresetOfSomeProblem) {
  for (const Variant& seed : wgmma().seeds) {
    EXPECT_TRUE(is_tried(seed, MathMode::kBf16) || is_tried(seed, MathMode::kTf32) || is_tried(seed, MathMode::kTf32x3))
        << seed.key();
  }
  EXPECT_TRUE(is_tried(wgmma().default_variant(), MathMode::kBf16));
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaModes,
                         ::testing::Values(MathMode::kBf16, MathMode::kTf32, MathMode::kTf32x3, MathMode::kE4m3),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST(WgmmaSpace, RowsThatTmaCannotWriteWholeAreWrittenByThreads) {
  const auto space = enumerate(wgmma(), typed(MathMode::kBf16, 512, 1001, 256), device());
  ASSERT_TRUE(space) << space.error().text();
  ASSERT_FALSE(space->variants.empty());
  for (const Variant& variant : space->variants) {
    EXPECT_EQ(std::get<std::string>(*variant.find("EPILOGUE")), "direct") << variant.key();
  }
}

TEST(WgmmaSpace, OperandsThatWgmmaDoesNotTakeAreTurnedFirst) {
  const auto kernels = [](MathMode mode, std::string_view layout) {
    const auto plan =
        make_launch_plan(wgmma(), wgmma().default_variant(), typed(mode, 512, 512, 512, layout), device());
    return plan ? plan->kernels.size() : 0U;
  };
  EXPECT_EQ(kernels(MathMode::kBf16, "tn"), 1U);
  EXPECT_EQ(kernels(MathMode::kTf32, "nt"), 1U);
  EXPECT_EQ(kernels(MathMode::kTf32, "nn"), 2U);
  EXPECT_EQ(kernels(MathMode::kE4m3, "tn"), 3U);
}

TEST(WgmmaSpace, Float32AccuracyTakesAnyRowsAndSplitsBothOperandsFirst) {
  Problem problem = typed(MathMode::kTf32x3, 300, 301, 333);
  const Variant variant = parse_variant(wgmma(), "BN=128,STAGES=3,PROMOTE=2,EPILOGUE=direct").value();
  const auto plan = make_launch_plan(wgmma(), variant, problem, device());
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->kernels.size(), 3U);
  // Two parts of A's and B's rows, at multiples of 16 elements.
  EXPECT_GE(plan->workspace_bytes, (300 + 301) * 336 * 2 * 4);
}

TEST(WgmmaSpace, AClusterAlongKHasOneTile) {
  const Problem problem = typed(MathMode::kBf16, 256, 256, 16384);
  const Variant variant = parse_variant(wgmma(), "BM=64,BN=64,WARPGROUPS_M=1,CLUSTER_K=4,STAGES=12").value();
  const auto plan = make_launch_plan(wgmma(), variant, problem, device());
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->kernels.at(0).cluster.x, 4);
  EXPECT_EQ(plan->kernels.at(0).grid.x, 16 * 4);
  EXPECT_TRUE(why_illegal(wgmma(), variant, typed(MathMode::kBf16, 512, 512, 16384), device()).value().has_value());
}

TEST(WgmmaSpace, WhereTmaCannotReadTheReasonNamesWhatCan) {
  const auto reason =
      why_illegal(wgmma(), wgmma().default_variant(), typed(MathMode::kBf16, 4096, 4096, 4095), device()).value();
  ASSERT_TRUE(reason.has_value());
  EXPECT_THAT(*reason, ::testing::AllOf(::testing::HasSubstr("pad"), ::testing::HasSubstr("gemm_mma")));
}

}  // namespace
}  // namespace pgtune::space
