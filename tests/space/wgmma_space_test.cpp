// SPDX-License-Identifier: MIT
// The space of gemm_wgmma: small enough to be measured, what has won in it, and rules that keep out what cannot be
// right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space {
namespace {

using testing::device;

const TemplateDefinition& wgmma() {
  static const TemplateDefinition definition = testing::shipped_template("gemm_wgmma");
  return definition;
}

Problem typed(Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k, std::string_view layout = "nt") {
  return testing::shaped_problem(dtype, {.m = m, .n = n, .k = k}, layout);
}

/// What has won on some problem. Nothing tells a search of them, but its preset has to hold each somewhere.
const std::vector<Variant>& has_won() {
  static const std::vector<Variant> variants = [] {
    std::vector<Variant> all;
    for (const char* text : {
             "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6",
             "BN=192,SCHEDULE=pingpong,WARPGROUPS_M=1,CLUSTER_M=2",
             "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6,CLUSTER_M=2,DECOMPOSITION=stream_k",
             "BN=112,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=7",
             "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6,EPILOGUE=staged",
             "BM=256,BN=128,EPILOGUE=staged",
             "BN=64,CLUSTER_N=2,STAGES=8,EPILOGUE=staged",
             "BN=64,STAGES=9,EPILOGUE=direct,DEPENDENT_LAUNCH=1",
             "BN=128,TF32X3_PARTS=3,STAGES=2,PROMOTION_INTERVAL=1",
             "BN=128,STAGES=3,PROMOTION_INTERVAL=2",
             "BN=128,STAGES=3,PROMOTION_INTERVAL=2,DEPENDENT_LAUNCH=1",
             "BN=64,STAGES=4,PROMOTION_INTERVAL=2,DEPENDENT_LAUNCH=1",
             "BM=64,BN=128,WARPGROUPS_M=1,STAGES=4,PROMOTION_INTERVAL=2,DEPENDENT_LAUNCH=1",
             "BN=128,STAGES=3,PROMOTION_INTERVAL=2,CLUSTER_M=2",
             "BN=128,STAGES=3,PROMOTION_INTERVAL=1",
             "BM=64,BN=128,WARPGROUPS_M=1,STAGES=8,RASTER_GROUP=16",
             "SWAP_AB=1,LEFT_SOURCE=registers",
             "SWAP_AB=1,LEFT_SOURCE=registers,BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6",
             "SWAP_AB=1,LEFT_SOURCE=registers,BM=64,BN=128,WARPGROUPS_M=1,STAGES=8",
             "LEFT_SOURCE=registers",
             "LEFT_SOURCE=registers,BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6",
             "BN=128,STAGES=6,CLUSTER_M=2,DECOMPOSITION=split_k,SPLIT_K=8",
             "BM=64,BN=128,WARPGROUPS_M=1,STAGES=9,CLUSTER_M=2,DECOMPOSITION=split_k,SPLIT_K=4",
             "BM=192,BN=176,WARPGROUPS_M=3",
             "BN=224",
             "STAGES=3,D_BUFFERS=4,C_SOURCE=shared",
             "C_SOURCE=shared",
             "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6,C_SOURCE=shared",
             "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=5,D_BUFFERS=4",
             "BM=64,BN=128,WARPGROUPS_M=1,BK_BYTES=256,STAGES=4,EPILOGUE=direct,COPY=cp_async",
             "BM=64,BN=32,WARPGROUPS_M=1,BK_BYTES=256,STAGES=9",
             "BM=64,BN=64,WARPGROUPS_M=1,CLUSTER_K=4,BK_BYTES=256,STAGES=6",
             "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=16,CLUSTER_K=2,BK_BYTES=256,STAGES=11",
             "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=16,STAGES=16",
             "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=64,CLUSTER_M=4,BK_BYTES=256,STAGES=6",
             "SWAP_AB=1,BM=64,WARPGROUPS_M=1,BN=64,STAGES=13",
         })
      all.push_back(parse_variant(wgmma(), text).value());
    return all;
  }();
  return variants;
}

struct Kind {
  Dtype dtype;
  std::string layout;
  auto operator<=>(const Kind&) const = default;
};

/// The presets of a few problems of every kind: large, one round of tiles, long sums, few rows. Each is made once,
/// because that takes a quarter of a second.
const std::vector<std::vector<Variant>>& presets(const Kind& kind) {
  static std::map<Kind, std::vector<std::vector<Variant>>> known;
  auto& all = known[kind];
  if (all.empty()) {
    for (const auto& [m, n, k] :
         {std::tuple{5120, 5120, 4096}, std::tuple{2048, 2048, 2048}, std::tuple{256, 256, 16384},
          std::tuple{64, 2048, 4096}, std::tuple{16, 4096, 4096}}) {
      const auto space = legal_variants(wgmma(), typed(kind.dtype, m, n, k, kind.layout), device());
      EXPECT_TRUE(space) << space.error().text();
      if (space) all.push_back(space->variants);
    }
  }
  return all;
}

bool is_tried(const Variant& variant, const Kind& kind) {
  return std::any_of(presets(kind).begin(), presets(kind).end(), [&](const std::vector<Variant>& preset) {
    return std::find(preset.begin(), preset.end(), variant) != preset.end();
  });
}

class WgmmaModes : public ::testing::TestWithParam<Kind> {};

TEST_P(WgmmaModes, PresetsTakeAMinuteAndHoldWhatHasWon) {
  ASSERT_EQ(presets(GetParam()).size(), 5U);
  for (const std::vector<Variant>& preset : presets(GetParam())) {
    EXPECT_GE(preset.size(), 30U);
    EXPECT_LE(preset.size(), 330U);
  }
  EXPECT_GE(std::count_if(has_won().begin(), has_won().end(),
                          [](const Variant& winner) { return is_tried(winner, GetParam()); }),
            GetParam().layout == "nt" ? 5 : 2);
}

/// Whether the space has the variant. All other points are left out, which walking takes a second for.
bool holds(TemplateDefinition definition, const Variant& variant, const Problem& problem) {
  for (Parameter& parameter : definition.parameters) parameter.values = {*variant.find(parameter.name)};
  const auto space = legal_variants(definition, problem, device());
  EXPECT_TRUE(space) << space.error().text();
  return space && !space->variants.empty();
}

/// Whether it is tried where no row but the first starts at a multiple of 16 bytes.
bool is_tried_on_odd_rows(const Variant& variant) {
  for (const std::int64_t extent : {1001, 4095}) {
    const Problem problem = typed(Dtype::kBf16, extent, extent, extent, "nn");
    if (holds(wgmma(), variant, problem)) return true;
  }
  return false;
}

TEST(WgmmaSpace, OverlapsTheLaunchBeforeInAChainAlone) {
  Problem problem = typed(Dtype::kBf16, 16, 6144, 4096, "nt");
  const auto overlapping = [&] {
    const auto space = enumerate(wgmma(), problem, device());
    EXPECT_TRUE(space) << space.error().text();
    std::size_t count = 0;
    for (const Variant& variant : space->variants) {
      if (*variant.find("DEPENDENT_LAUNCH") != ParameterValue(std::int64_t{1})) continue;
      ++count;
      const auto plan = make_launch_plan(wgmma(), variant, problem, device());
      EXPECT_TRUE(plan) << variant.key();
      if (!plan) continue;
      // Flags are cleared by a kernel that waits for the launch before.
      const bool clears = plan->kernels.front().waits_first;
      EXPECT_EQ(plan->kernels.size(), clears ? 2U : 1U) << variant.key();
      EXPECT_TRUE(plan->kernels.back().overlaps_previous) << variant.key();
    }
    return count;
  };
  EXPECT_EQ(overlapping(), 0U);
  problem.chained = true;
  EXPECT_GE(overlapping(), 30U);
}

/// Whether it is tried where C is added, where K is short, or where TMA reads no operand.
bool is_tried_elsewhere(const Variant& variant) {
  Problem residual = typed(Dtype::kBf16, 4096, 4096, 4096);
  residual.beta = 1;
  for (const Problem& problem :
       {residual, typed(Dtype::kBf16, 4096, 4096, 256), typed(Dtype::kBf16, 1002, 1002, 1002)}) {
    if (holds(wgmma(), variant, problem)) return true;
  }
  return false;
}

TEST(WgmmaSpace, EveryWinnerIsInThePresetOfSomeProblem) {
  for (const Variant& winner : has_won()) {
    EXPECT_TRUE(is_tried(winner, {Dtype::kBf16, "nt"}) || is_tried(winner, {Dtype::kTf32, "nt"}) ||
                is_tried(winner, {Dtype::kTf32x3, "nt"}) || is_tried(winner, {Dtype::kTf32, "nn"}) ||
                is_tried(winner, {Dtype::kTf32, "tt"}) || is_tried_on_odd_rows(winner) || is_tried_elsewhere(winner))
        << winner.key();
  }
  EXPECT_TRUE(is_tried(wgmma().default_variant(), {Dtype::kBf16, "nt"}));
}

// A rule that saves time elsewhere must not keep out what has won where it was tried.
TEST(WgmmaSpace, ThePresetHoldsWhatHasWon) {
  const struct {
    Dtype dtype;
    std::int64_t m, n, k;
    const char* variant;
  } winners[] = {
      {Dtype::kBf16, 4096, 4096, 4096, "BN=112,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=7"},
      {Dtype::kBf16, 4096, 4096, 4096, "BN=112,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=7,CLUSTER_M=2"},
      {Dtype::kBf16, 1024, 7168, 2048, "BN=112,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=7"},
      {Dtype::kBf16, 4096, 2112, 7168, "BN=176,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=5"},
      {Dtype::kBf16, 1000, 1000, 1000, "BM=64,BN=160,WARPGROUPS_M=1,CLUSTER_M=4,STAGES=7,L2_PROMOTION=0"},
      {Dtype::kBf16, 512, 512, 16384, "BN=128,DECOMPOSITION=split_k,SPLIT_K=8,CLUSTER_M=2,STAGES=6"},
      {Dtype::kBf16, 32, 1280, 8192, "SWAP_AB=1,BM=64,BN=32,WARPGROUPS_M=1,CLUSTER_K=4,BK_BYTES=256,STAGES=9"},
      {Dtype::kBf16, 256, 3584, 18944, "BM=64,BN=112,WARPGROUPS_M=1,STAGES=10"},
      {Dtype::kBf16, 64, 6144, 4096, "BM=64,BN=48,WARPGROUPS_M=1,BK_BYTES=256,STAGES=7"},
      {Dtype::kTf32, 1000, 1000, 1000, "BM=64,BN=144,WARPGROUPS_M=1,CLUSTER_M=4,STAGES=8,L2_PROMOTION=0"},
      {Dtype::kTf32, 8, 18944, 3584,
       "SWAP_AB=1,BM=64,BN=8,WARPGROUPS_M=1,BK_BYTES=256,STAGES=12,DECOMPOSITION=stream_k,EPILOGUE=direct"},
  };
  for (const auto& winner : winners) {
    const auto space = legal_variants(wgmma(), typed(winner.dtype, winner.m, winner.n, winner.k), device());
    ASSERT_TRUE(space) << space.error().text();
    EXPECT_THAT(space->variants, ::testing::Contains(parse_variant(wgmma(), winner.variant).value()))
        << winner.variant << " at " << winner.m << "x" << winner.n << "x" << winner.k;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaModes,
                         ::testing::Values(Kind{Dtype::kBf16, "nt"}, Kind{Dtype::kTf32, "nt"},
                                           Kind{Dtype::kTf32x3, "nt"}, Kind{Dtype::kE4m3, "nt"},
                                           Kind{Dtype::kTf32, "nn"}, Kind{Dtype::kTf32, "tt"}, Kind{Dtype::kE4m3, "nn"},
                                           Kind{Dtype::kE4m3, "tn"}),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param.dtype)) + "_" + instance.param.layout;
                         });

std::set<std::string> epilogues(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto space = legal_variants(wgmma(), typed(Dtype::kBf16, m, n, k), device());
  EXPECT_TRUE(space) << space.error().text();
  std::set<std::string> found;
  if (!space) return found;
  for (const Variant& variant : space->variants) found.insert(std::get<std::string>(*variant.find("EPILOGUE")));
  return found;
}

TEST(WgmmaSpace, RowsThatTmaCannotWriteWholeAreWrittenByThreads) {
  EXPECT_EQ(epilogues(512, 1000, 256), (std::set<std::string>{"tma"}));
  EXPECT_EQ(epilogues(512, 1001, 256), (std::set<std::string>{"staged"})) << "whole lines, not single elements";
  EXPECT_EQ(epilogues(4098, 4098, 4096), (std::set<std::string>{"staged"}));
  EXPECT_EQ(epilogues(1002, 1002, 1002), (std::set<std::string>{"staged", "direct"})) << "or pairs, in one wave";
  EXPECT_EQ(epilogues(16, 4097, 4096), (std::set<std::string>{"direct"})) << "lines of 16 elements";
}

/// Kernels that the variant launches, or a reason why it is not legal.
std::string kernels(const Problem& problem, const std::string& parameters) {
  const Variant variant = parse_variant(wgmma(), parameters).value();
  if (const auto reason = why_illegal(wgmma(), variant, problem, device()).value()) return *reason;
  const auto plan = make_launch_plan(wgmma(), variant, problem, device());
  if (!plan) return plan.error().text();
  std::string names;
  for (const KernelLaunch& kernel : plan->kernels) names += (names.empty() ? "" : " ") + kernel.symbol;
  return names;
}

/// `pgtune space` and `--grid full` walk all of it: a parameter among the first doubles what is below.
/// A change of its constraints that multiplies or empties the space shows here.
TEST(WgmmaSpace, OfAllOfItNinetyThousandAreLegal) {
  const auto all = enumerate(wgmma(), typed(Dtype::kBf16, 4096, 4096, 4096), device());
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_NEAR(static_cast<double>(all->after_constraints), 250'000, 50'000);
  EXPECT_NEAR(static_cast<double>(all->legal), 90'000, 10'000);
}

TEST(WgmmaSpace, Int8HasThePresetOfEightBitFloatsWithoutPromotion) {
  const Problem problem = typed(Dtype::kInt8, 2048, 2048, 2048);
  const auto legal = legal_variants(wgmma(), problem, device());
  ASSERT_TRUE(legal) << legal.error().text();
  const auto floats = legal_variants(wgmma(), typed(Dtype::kE4m3, 2048, 2048, 2048), device());
  ASSERT_TRUE(floats) << floats.error().text();
  EXPECT_GT(legal->variants.size(), floats->variants.size() / 2);
  const auto winner = parse_variant(wgmma(), "BM=128,BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6");
  ASSERT_TRUE(winner) << winner.error().text();
  EXPECT_NE(std::find(legal->variants.begin(), legal->variants.end(), *winner), legal->variants.end())
      << "but for the order of tiles, at 1.09 of cuBLASLt";
  for (const Variant& variant : legal->variants)
    ASSERT_EQ(std::get<std::int64_t>(*variant.find("PROMOTION_INTERVAL")), 0) << "int32 loses nothing";
  const auto plan = make_launch_plan(wgmma(), wgmma().default_variant(), problem, device());
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->tensor_maps.at(0).type, TensorType::kUint8);
  EXPECT_EQ(plan->tensor_maps.back().type, TensorType::kInt32);
}

TEST(WgmmaSpace, OperandsThatWgmmaDoesNotTakeAreTransposedFirst) {
  const auto of = [](Dtype dtype, std::string_view layout) {
    return kernels(typed(dtype, 512, 512, 512, layout), "BM=128");
  };
  EXPECT_EQ(of(Dtype::kBf16, "tn"), "gemm_wgmma");
  EXPECT_EQ(of(Dtype::kTf32, "nt"), "gemm_wgmma");
  EXPECT_EQ(of(Dtype::kInt8, "nt"), "gemm_wgmma");
  EXPECT_EQ(of(Dtype::kInt8, "nn"), "prepare_operands gemm_wgmma");
  EXPECT_EQ(of(Dtype::kTf32, "nn"), "prepare_operands gemm_wgmma");
  EXPECT_EQ(of(Dtype::kE4m3, "tn"), "prepare_operands gemm_wgmma");
}

TEST(WgmmaSpace, RegistersTransposeTheLeftOperand) {
  const auto of = [](Dtype dtype, std::string_view layout, const std::string& parameters) {
    return kernels(typed(dtype, 512, 512, 512, layout), "LEFT_SOURCE=registers," + parameters);
  };
  EXPECT_EQ(of(Dtype::kTf32, "nn", "SWAP_AB=1"), "gemm_wgmma");
  EXPECT_EQ(of(Dtype::kE4m3, "tt", "SWAP_AB=0"), "gemm_wgmma");
  EXPECT_EQ(of(Dtype::kE4m3, "tn", "SWAP_AB=0"), "prepare_operands gemm_wgmma");
  EXPECT_THAT(of(Dtype::kTf32, "nn", "SWAP_AB=0"), ::testing::HasSubstr("nothing to transpose"));
  EXPECT_THAT(of(Dtype::kBf16, "tn", "SWAP_AB=0"), ::testing::HasSubstr("16 bits"));
}

/// Whether a search tries the variant.
bool tried(const Problem& problem, const std::string& parameters) {
  const auto variant = parse_variant(wgmma(), parameters);
  EXPECT_TRUE(variant) << variant.error().text();
  TemplateDefinition whole = wgmma();
  whole.preset.clear();
  return holds(whole, *variant, problem);
}

TEST(WgmmaSpace, OneTileTakesTheRowsOfASwappedProduct) {
  const auto of = [](std::int64_t rows, const std::string& parameters) {
    return tried(typed(Dtype::kBf16, rows, 4096, 512), "SWAP_AB=1," + parameters);
  };
  EXPECT_TRUE(of(24, "BN=32,STAGES=10"));
  EXPECT_TRUE(of(96, "BN=96,STAGES=7"));
  EXPECT_TRUE(of(200, "BN=208,STAGES=5"));
  EXPECT_FALSE(of(200, "BN=96,STAGES=7"));
  EXPECT_FALSE(of(96, "BN=208,STAGES=5"));
}

TEST(WgmmaSpace, AVariantMayServeEveryNumberOfRows) {
  for (const char* parameters : {"BM=128,BN=256", "BM=64,BN=64,WARPGROUPS_M=1,GRID=persistent_even", "SWAP_AB=1,BN=64",
                                 "BM=128,BN=128,GRID=single_tile"}) {
    for (const std::int64_t rows : {1, 16, 17, 64, 65, 1000, 8192})
      EXPECT_EQ(kernels(typed(Dtype::kBf16, rows, 4096, 4096, "nt"), parameters), "gemm_wgmma") << rows << parameters;
  }
  EXPECT_FALSE(tried(typed(Dtype::kBf16, 16, 4096, 4096, "nt"), "BM=128,BN=256")) << "but no search tries it";
  EXPECT_THAT(kernels(typed(Dtype::kBf16, 8192, 4096, 4096, "nt"), "BM=64,BN=64,WARPGROUPS_M=1,CLUSTER_K=2"),
              ::testing::HasSubstr("enough tiles"));
}

TEST(WgmmaSpace, OddSplitsAreTriedWhereTheyFillWhatOthersLeaveIdle) {
  const auto splits = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    std::set<std::int64_t> out;
    const auto preset = legal_variants(wgmma(), typed(Dtype::kBf16, m, n, k, "nt"), device());
    EXPECT_TRUE(preset) << preset.error().text();
    for (const Variant& variant : preset->variants) out.insert(std::get<std::int64_t>(*variant.find("SPLIT_K")));
    return out;
  };
  EXPECT_THAT(splits(640, 640, 24576), ::testing::Contains(5));
  EXPECT_THAT(splits(384, 896, 16384), ::testing::Contains(6));
  EXPECT_THAT(splits(768, 896, 16384), ::testing::Contains(3));
  EXPECT_THAT(splits(4096, 4096, 4096), ::testing::Not(::testing::Contains(3)));
}

TEST(WgmmaSpace, ManyCtasShareAFewSmallTiles) {
  const auto of = [](std::int64_t extent, std::int64_t depth, const std::string& parameters) {
    const Problem problem = typed(Dtype::kBf16, extent, extent, depth);
    const Variant variant =
        parse_variant(wgmma(), "BM=64,BN=64,WARPGROUPS_M=1,DECOMPOSITION=split_k," + parameters).value();
    if (const auto reason = why_illegal(wgmma(), variant, problem, device()).value()) return *reason;
    const auto plan = make_launch_plan(wgmma(), variant, problem, device());
    if (!plan) return plan.error().text();
    // Partial sums of each CTA, in float32, and a counter for each tile's warpgroup.
    EXPECT_GE(plan->workspace_bytes, plan->kernels.back().grid.x * std::int64_t{64 * 64 * 4});
    return std::to_string(plan->kernels.back().grid.x);
  };
  EXPECT_EQ(of(128, 131072, "STAGES=13,SPLIT_K=32"), "128");
  EXPECT_EQ(of(64, 8192, "STAGES=13,SPLIT_K=24"), "24");
  EXPECT_EQ(of(64, 8192, "STAGES=14,SPLIT_K=16,EPILOGUE=direct"), "16");
  EXPECT_THAT(of(192, 131072, "STAGES=13,SPLIT_K=16"), ::testing::HasSubstr("enough tiles"));
  EXPECT_THAT(of(64, 2048, "STAGES=13,SPLIT_K=24"), ::testing::HasSubstr("K is too short"));
}

TEST(WgmmaSpace, RowsThatTmaCannotReadAreCopiedFirst) {
  EXPECT_EQ(kernels(typed(Dtype::kBf16, 4096, 4096, 4095), "BM=128"), "prepare_operands gemm_wgmma");
  const auto plan =
      make_launch_plan(wgmma(), wgmma().default_variant(), typed(Dtype::kBf16, 256, 512, 999, "nt"), device());
  ASSERT_TRUE(plan) << plan.error().text();
  // Lines at multiples of 128 bytes, a CTA for 64 of them and 64 steps of K.
  EXPECT_EQ(plan->workspace_bytes, (256 + 512) * 1024 * 2);
  EXPECT_EQ(plan->kernels.front().grid.x, 4 + 8);
  EXPECT_EQ(plan->kernels.front().grid.y, 16);
}

TEST(WgmmaSpace, Float32AccuracyTakesAnyRowsAndSplitsBothOperandsFirst) {
  Problem problem = typed(Dtype::kTf32x3, 300, 301, 333);
  const Variant variant = parse_variant(wgmma(), "BN=128,STAGES=3,PROMOTION_INTERVAL=2,EPILOGUE=direct").value();
  const auto plan = make_launch_plan(wgmma(), variant, problem, device());
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->kernels.size(), 2U);
  // Two parts of A's and B's rows, at multiples of 16 elements.
  EXPECT_GE(plan->workspace_bytes, (300 + 301) * 336 * 2 * 4);
}

TEST(WgmmaSpace, AClusterAlongKHasOneTile) {
  const Problem problem = typed(Dtype::kBf16, 256, 256, 16384);
  const Variant variant = parse_variant(wgmma(), "BM=64,BN=64,WARPGROUPS_M=1,CLUSTER_K=4,STAGES=12").value();
  const auto plan = make_launch_plan(wgmma(), variant, problem, device());
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->kernels.at(0).cluster.x, 4);
  EXPECT_EQ(plan->kernels.at(0).grid.x, 16 * 4);
  EXPECT_TRUE(why_illegal(wgmma(), variant, typed(Dtype::kBf16, 512, 512, 16384), device()).value().has_value());
}

}  // namespace
}  // namespace pgtune::space
