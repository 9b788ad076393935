// SPDX-License-Identifier: MIT
// The space of gemm_wgmma: small enough to be measured, its seeds in it, and rules that keep out what cannot be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/space/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::space {
namespace {

using testing::device;

const TemplateDefinition& wgmma() {
  static const TemplateDefinition definition = load_template(PGTUNE_SOURCE_DIR "/configs/gemm_wgmma.json", {}).value();
  return definition;
}

Problem typed(MathMode mode, std::int64_t m, std::int64_t n, std::int64_t k, std::string_view layout = "nt") {
  Problem shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.math_mode = mode;
  return with_default_strides(with_layout(shape, layout).value()).value();
}

class WgmmaModes : public ::testing::TestWithParam<MathMode> {};

TEST_P(WgmmaModes, PresetsTakeAMinute) {
  for (const auto& [m, n, k] :
       {std::tuple{4096, 4096, 4096}, std::tuple{2048, 2048, 2048}, std::tuple{64, 4096, 4096}}) {
    const auto space = enumerate(wgmma(), typed(GetParam(), m, n, k), device());
    ASSERT_TRUE(space) << space.error().text();
    EXPECT_GE(space->variants.size(), 40U) << m << "x" << n << "x" << k;
    EXPECT_LE(space->variants.size(), 310U) << m << "x" << n << "x" << k;
  }
}

TEST_P(WgmmaModes, DefaultAndSeedsAreLegalForSomeProblem) {
  std::vector<Variant> tried = wgmma().seeds;
  tried.push_back(wgmma().default_variant());
  std::size_t count = 0;
  for (const Variant& variant : tried) {
    bool legal = false;
    for (const std::int64_t m : {16, 64, 1536, 5120}) {
      legal = legal || !why_illegal(wgmma(), variant, typed(GetParam(), m, 5120, 4096), device()).value();
    }
    // Float32 results take twice the shared memory, and the threads write those of an exchanged product.
    if (GetParam() != MathMode::kTf32) EXPECT_TRUE(legal) << variant.key();
    count += legal ? 1U : 0U;
  }
  EXPECT_GE(count, 10U);
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaModes, ::testing::Values(MathMode::kBf16, MathMode::kTf32, MathMode::kE4m3),
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

}  // namespace
}  // namespace pgtune::space
