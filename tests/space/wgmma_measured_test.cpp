// SPDX-License-Identifier: MIT
// What was measured of residuals, rows at any pitch, few tiles and long sums (docs/results/residual-and-pitch.csv and
// long-sums.csv), in gemm_wgmma's preset and the order of its cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space::wgmma_measured {
namespace {

using testing::device;

const TemplateDefinition& wgmma() {
  static const TemplateDefinition definition = testing::shipped_template("gemm_wgmma");
  return definition;
}

Problem of(std::int64_t m, std::int64_t n, std::int64_t k, double beta = 0) {
  Problem problem = testing::shaped_problem(Dtype::kBf16, {.m = m, .n = n, .k = k}, "nt");
  problem.beta = beta;
  return problem;
}

std::vector<Variant> preset(const Problem& problem) {
  const auto space = legal_variants(wgmma(), problem, device());
  EXPECT_TRUE(space) << space.error().text();
  return space ? space->variants : std::vector<Variant>();
}

Variant variant(const std::string& text) { return parse_variant(wgmma(), text).value(); }

std::ptrdiff_t count(const std::vector<Variant>& variants, const char* parameter, const ParameterValue& value) {
  return std::count_if(variants.begin(), variants.end(),
                       [&](const Variant& one) { return *one.find(parameter) == value; });
}

constexpr const char* kResidualWinner = "STAGES=3,D_BUFFERS=4,C_SOURCE=shared";
constexpr const char* kShortWinner = "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=5,D_BUFFERS=4";
constexpr const char* kUnreadableWinner =
    "BM=64,BN=128,WARPGROUPS_M=1,BK_BYTES=256,STAGES=4,EPILOGUE=direct,COPY=cp_async";
constexpr const char* kSwappedWinner = "SWAP_AB=1,BN=96,CLUSTER_K=2,STAGES=6";

TEST(WgmmaMeasured, AResidualIsCopiedWhileTilesAreMultiplied) {
  for (const std::int64_t extent : {2048, 4096}) {
    const auto plain = preset(of(extent, extent, extent)), residual = preset(of(extent, extent, extent, 1));
    EXPECT_THAT(residual, ::testing::Contains(variant(kResidualWinner)));
    EXPECT_EQ(count(plain, "C_SOURCE", std::string("shared")), 0);
    for (const Variant& one : residual) {
      const bool shared = *one.find("C_SOURCE") == ParameterValue(std::string("shared"));
      EXPECT_EQ(shared, *one.find("DECOMPOSITION") == ParameterValue(std::string("data_parallel")) &&
                            *one.find("CLUSTER_K") == ParameterValue(std::int64_t{1}) &&
                            *one.find("SWAP_AB") == ParameterValue(std::int64_t{0}))
          << one.key();
    }
    EXPECT_LE(residual.size(), plain.size() + 10) << "a residual takes hardly longer to search";
  }
}

/// The kernel counts its bytes by the same rule (wgmma_operand.cuh).
TEST(WgmmaMeasured, ALastTilesBoxEndsWhereItsRowsDo) {
  const auto lines = [](const char* operand, const std::string& text, std::int64_t m) {
    const Variant one = variant(text);
    const LaunchPlan plan = make_launch_plan(wgmma(), one, of(m, 4096, 4096), device()).value();
    for (const TensorMapPlan& map : plan.tensor_maps) {
      if (map.name == operand) return map.box.at(1);
    }
    return std::int64_t{0};
  };
  const std::string swapped = "SWAP_AB=1,BM=64,BN=96,WARPGROUPS_M=1,STAGES=8";
  EXPECT_EQ(lines("right_last", swapped, 23), 23);
  EXPECT_EQ(lines("right_last", swapped, 96), 96);
  EXPECT_EQ(lines("right_last", swapped, 97), 1);
  EXPECT_EQ(lines("right", swapped, 97), 96);
  EXPECT_EQ(lines("left_last", swapped, 23), 64);
  EXPECT_EQ(lines("right_last", swapped + ",CLUSTER_M=4", 101), 2) << "four CTAs load as many each";
  EXPECT_EQ(lines("left_last", "BM=64,BN=64,WARPGROUPS_M=1,STAGES=8,CLUSTER_N=2", 87), 12);
}

TEST(WgmmaMeasured, SwappedTilesAreThoseWhoseWavesTakeLeast) {
  const auto rows_and_columns = [](std::int64_t m) {
    std::set<std::pair<std::int64_t, std::int64_t>> out;
    for (const Variant& one : preset(of(m, 4096, 4096))) {
      if (std::get<std::int64_t>(*one.find("SWAP_AB")) == 0) continue;
      out.emplace(std::get<std::int64_t>(*one.find("BM")), std::get<std::int64_t>(*one.find("BN")));
    }
    return out;
  };
  for (const auto& [m, tile] : {std::pair{1042, std::pair{192, 176}}, {3685, {192, 208}}, {8159, {128, 248}}}) {
    EXPECT_THAT(rows_and_columns(m), ::testing::Contains(tile)) << "a multiple of 132 tiles";
    for (const auto& [bm, bn] : rows_and_columns(m)) {
      const auto columns_of_waves = [m = m, bm = bm](std::int64_t width) {
        const std::int64_t tiles = (4096 + bm - 1) / bm * ((m + width - 1) / width);
        return (tiles + 131) / 132 * width;
      };
      const std::int64_t narrower = bn - (bm == 192 && bn > 192 ? 16 : 8);
      EXPECT_GE(bm, 128);
      EXPECT_TRUE(narrower < 80 || columns_of_waves(bn) <= columns_of_waves(narrower)) << m << ": " << bm << 'x' << bn;
    }
  }
  EXPECT_THAT(rows_and_columns(286), ::testing::Contains(std::pair{128, 80})) << "128 tiles";
  EXPECT_THAT(rows_and_columns(4096), ::testing::Not(::testing::Contains(std::pair{128, 248})))
      << "five waves, as of 216";
}

TEST(WgmmaMeasured, MoreBoxesOfDAreForShortSumsAlone) {
  EXPECT_THAT(preset(of(4096, 4096, 256)), ::testing::Contains(variant(kShortWinner)));
  EXPECT_EQ(count(preset(of(4096, 4096, 4096)), "D_BUFFERS", std::int64_t{4}), 0);
  EXPECT_EQ(count(preset(of(1024, 1024, 256)), "D_BUFFERS", std::int64_t{4}), 0) << "one tile for each warpgroup";
}

TEST(WgmmaMeasured, ThreadsCopyOperandsOfSmallProductsThatTmaCannotRead) {
  const ParameterValue cp_async = std::string("cp_async");
  EXPECT_THAT(preset(of(1002, 1002, 1002)), ::testing::Contains(variant(kUnreadableWinner)));
  EXPECT_LE(count(preset(of(1002, 1002, 1002)), "COPY", cp_async), 10);
  EXPECT_EQ(count(preset(of(1000, 1000, 1000)), "COPY", cp_async), 0) << "TMA reads rows of 2000 bytes faster";
  EXPECT_EQ(count(preset(of(1002, 1002, 8002)), "COPY", cp_async), 0) << "a copy before a long sum costs less";
}

TEST(WgmmaMeasured, NinetySixRowsAreSwapped) {
  const auto tried = preset(of(96, 7168, 18432));
  EXPECT_THAT(tried, ::testing::Contains(variant(kSwappedWinner)));
  EXPECT_LE(count(tried, "SWAP_AB", std::int64_t{1}), 8) << "hardly longer to search";
  const auto clocks = [](const Variant& one) {
    return cost_clocks(wgmma(), one, of(96, 7168, 18432), device()).value().value();
  };
  const double winner = clocks(variant(kSwappedWinner));
  EXPECT_LE(std::count_if(tried.begin(), tried.end(), [&](const Variant& one) { return clocks(one) < winner; }), 3)
      << "among the first that a search tries";
  EXPECT_LE(count(preset(of(200, 3072, 8192)), "SWAP_AB", std::int64_t{1}), 8) << "tiles of 128 fit as well";
}

TEST(WgmmaMeasured, RowsPastSixtyFourAreSwappedInNarrowTilesThatFillAWave) {
  // At 83x2048x2048 the narrow tile took 5.3 us, the fastest of the others 6.5 us.
  constexpr const char* kNarrow = "SWAP_AB=1,BM=64,BN=32,WARPGROUPS_M=1,STAGES=16";
  const Problem few = of(83, 2048, 2048);
  const auto tried = preset(few);
  EXPECT_THAT(tried, ::testing::Contains(variant(kNarrow)));
  EXPECT_THAT(tried, ::testing::Contains(variant("SWAP_AB=1,BM=64,BN=32,WARPGROUPS_M=1,BK_BYTES=256,STAGES=9")));
  EXPECT_LE(count(tried, "SWAP_AB", std::int64_t{1}), 11) << "hardly longer to search";
  const auto clocks = [&](const Variant& one) { return cost_clocks(wgmma(), one, few, device()).value().value(); };
  const double own = clocks(variant(kNarrow));
  EXPECT_LE(std::count_if(tried.begin(), tried.end(), [&](const Variant& one) { return clocks(one) < own; }), 2)
      << "among the first that a search tries";
  EXPECT_THAT(preset(of(83, 1024, 1024)), ::testing::Not(::testing::Contains(variant(kNarrow)))) << "48 tiles";
  EXPECT_THAT(preset(of(83, 4096, 4096)), ::testing::Not(::testing::Contains(variant(kNarrow)))) << "192 tiles";
  EXPECT_THAT(preset(of(200, 1024, 1024)), ::testing::Not(::testing::Contains(variant(kNarrow))));
}

TEST(WgmmaMeasured, TilesThatHoldAllRowsAreSwappedInClusters) {
  // At 74x5632x4608 this took 15.95 us, the fastest of the others 16.35 us.
  constexpr const char* kAllRows = "SWAP_AB=1,BM=64,BN=80,WARPGROUPS_M=1,CLUSTER_M=4,STAGES=12";
  const auto tried = preset(of(74, 5632, 4608));
  EXPECT_THAT(tried, ::testing::Contains(variant(kAllRows)));
  const auto narrow = [](std::int64_t n, std::int64_t columns) {
    const auto variants = preset(of(74, n, 4608));
    return std::count_if(variants.begin(), variants.end(), [&](const Variant& one) {
      return std::get<std::int64_t>(*one.find("SWAP_AB")) == 1 && std::get<std::int64_t>(*one.find("BM")) == 64 &&
             std::get<std::int64_t>(*one.find("BN")) == columns &&
             std::get<std::int64_t>(*one.find("CLUSTER_K")) * std::get<std::int64_t>(*one.find("SPLIT_K")) == 1;
    });
  };
  EXPECT_EQ(narrow(5632, 80), 3) << "clusters of one, two and four";
  EXPECT_EQ(narrow(5632, 96), 0) << "wider than needed";
  EXPECT_EQ(narrow(2816, 80), 3) << "44 tiles, for a third of the SMs";
  EXPECT_EQ(narrow(2752, 80), 0);
  EXPECT_EQ(narrow(132 * 64 + 64, 80), 0) << "more than one wave";
}

TEST(WgmmaMeasured, ManyCtasShareTheTilesOfLongSums) {
  // The fastest of few-tiles.md's study.
  const struct {
    const char* layout;
    std::int64_t m, n, k;
    std::string fastest;
  } cases[] = {
      {"tn", 192, 128, 131072, "BM=64,BN=128,WARPGROUPS_M=1,STAGES=9,SPLIT_K=16"},
      {"tt", 64, 64, 6144, "SWAP_AB=1,BM=64,BN=16,WARPGROUPS_M=1,STAGES=16,SPLIT_K=16"},
      {"tn", 48, 304, 8192, "SWAP_AB=1,BM=64,BN=64,WARPGROUPS_M=1,STAGES=14,SPLIT_K=16"},
      {"tn", 40, 298, 8000, "SWAP_AB=1,BM=64,BN=64,WARPGROUPS_M=1,STAGES=14,EPILOGUE=direct,SPLIT_K=24,COPY=cp_async"},
      {"tt", 24, 40, 7680, "SWAP_AB=1,BM=64,BN=16,WARPGROUPS_M=1,STAGES=16,SPLIT_K=16"},
      {"tn", 120, 722, 6144, "SWAP_AB=1,BM=64,BN=128,WARPGROUPS_M=1,STAGES=9,EPILOGUE=direct,SPLIT_K=8,COPY=cp_async"},
      {"tn", 120, 722, 6144, "BN=64,STAGES=9,EPILOGUE=direct,SPLIT_K=8,COPY=cp_async"},  // the second
  };
  for (const auto& one : cases) {
    const Problem problem = testing::shaped_problem(Dtype::kBf16, {.m = one.m, .n = one.n, .k = one.k}, one.layout);
    const auto tried = preset(problem);
    const Variant fastest = variant(one.fastest + ",DECOMPOSITION=split_k");
    EXPECT_THAT(tried, ::testing::Contains(fastest)) << problem.title();
    const auto clocks = [&](const Variant& other) {
      return cost_clocks(wgmma(), other, problem, device()).value().value();
    };
    const double own = clocks(fastest);
    EXPECT_LE(std::count_if(tried.begin(), tried.end(), [&](const Variant& other) { return clocks(other) < own; }), 7)
        << problem.title() << ": among the first that a search tries";
  }
}

TEST(WgmmaMeasured, TheCostOrdersWhatWasMeasured) {
  // For each problem variants from the fastest to the slowest.
  const struct {
    Problem problem;
    std::vector<std::string> variants;
  } cases[] = {
      {of(4096, 4096, 4096, 1), {kResidualWinner, "C_SOURCE=shared", ""}},
      {of(4096, 4096, 4096, 1),
       {"BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6,C_SOURCE=shared",
        "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6"}},
      {of(2048, 2048, 2048, 1), {kResidualWinner, "C_SOURCE=shared", ""}},
      {of(4096, 4096, 256), {kShortWinner, "BN=128,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6"}},
      {of(1002, 1002, 1002),
       {kUnreadableWinner, "BM=64,BN=128,WARPGROUPS_M=1,BK_BYTES=256,STAGES=4,EPILOGUE=direct",
        "BM=64,BN=80,WARPGROUPS_M=1,STAGES=12,EPILOGUE=direct",
        "BM=64,BN=80,WARPGROUPS_M=1,STAGES=12,EPILOGUE=direct,COPY=cp_async"}},
      {of(1000, 1000, 1000),
       {"BM=64,BN=160,WARPGROUPS_M=1,CLUSTER_M=4,STAGES=7", "BM=64,BN=128,WARPGROUPS_M=1,STAGES=8",
        "BM=64,BN=128,WARPGROUPS_M=1,STAGES=8,COPY=cp_async"}},
      {of(96, 7168, 18432), {kSwappedWinner, "BN=128,STAGES=6,DECOMPOSITION=split_k,SPLIT_K=2"}},
  };
  for (const auto& one : cases) {
    double faster = 0;
    for (const std::string& text : one.variants) {
      const auto cost = cost_clocks(wgmma(), variant(text), one.problem, device());
      ASSERT_TRUE(cost && *cost) << text;
      EXPECT_GT(**cost, faster) << text << " at " << one.problem.title();
      faster = **cost;
    }
  }
}

}  // namespace
}  // namespace pgtune::space::wgmma_measured
