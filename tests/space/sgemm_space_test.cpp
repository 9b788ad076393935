// SPDX-License-Identifier: MIT
// The fp32 templates' spaces: together small enough to be measured, what has won in them, and sgemm_tma's rule of
// shared memory the one of the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space {
namespace {

using testing::device;

const std::vector<TemplateDefinition>& fp32_templates() {
  static const std::vector<TemplateDefinition> definitions = [] {
    std::vector<TemplateDefinition> all;
    for (const char* name : {"sgemm_simt", "sgemm_small", "sgemm_tma"}) {
      all.push_back(testing::shipped_template(name));
    }
    return all;
  }();
  return definitions;
}

Problem fp32_problem(std::int64_t m, std::int64_t n, std::int64_t k, std::string_view layout = "nn",
                     std::int64_t batch = 1) {
  return testing::shaped_problem(Dtype::kF32, {.m = m, .n = n, .k = k, .batch = batch}, layout);
}

/// Problems of every kind that the presets tell apart.
std::vector<Problem> fp32_problems() {
  return {fp32_problem(4096, 4096, 4096),       fp32_problem(1024, 1024, 1024, "nt"),  fp32_problem(512, 512, 512),
          fp32_problem(512, 512, 512, "nn", 8), fp32_problem(256, 256, 256, "nn", 16), fp32_problem(64, 4096, 4096),
          fp32_problem(16, 4096, 4096),         fp32_problem(1023, 1023, 1023, "nt"),  fp32_problem(1000, 1000, 1000),
          fp32_problem(128, 128, 8192, "tn"),   fp32_problem(2048, 1024, 512, "nt"),   fp32_problem(256, 3136, 2304),
          fp32_problem(512, 512, 64, "nt", 96), fp32_problem(64, 4096, 4096, "nt")};
}

TEST(SgemmSpace, PresetsTogetherAreAtMost1500AndWholeGrids20000) {
  for (const Problem& problem : fp32_problems()) {
    std::size_t searched = 0;
    std::int64_t legal = 0;
    for (const TemplateDefinition& definition : fp32_templates()) {
      const auto space = enumerate(definition, problem, device());
      ASSERT_TRUE(space) << space.error().text();
      searched += space->variants.size();
      legal += space->legal;
    }
    EXPECT_LE(searched, 1500U) << problem.key();
    EXPECT_GE(searched, 100U) << problem.key();
    EXPECT_LE(legal, 20000) << problem.key();
  }
}

TEST(SgemmSpace, EveryWinnerIsLegalForSomeProblem) {
  const std::map<std::string, std::vector<const char*>> winners{
      {"sgemm_simt",
       {
           "BM=128,BN=256,TM=16,TN=8,BK=16,STAGES=2",
           "BM=64,BN=128,TM=8,TN=8,BK=16,STAGES=5",
           "BM=128,BN=128,TM=8,TN=8,BK=8,STAGES=4,COPY_SPREAD=2",
           "BM=64,BN=128,TM=8,TN=8,BK=16,STAGES=3",
           "BM=64,BN=128,TM=8,TN=4,BK=16,STAGES=4",
           "BM=32,BN=64,TM=4,TN=4,BK=32,STAGES=3",
           "BM=32,BN=64,TM=4,TN=4,BK=32,STAGES=4",
           "BM=64,BN=64,TM=8,TN=4,BK=16,STAGES=3,VEC=1,CACHE=ca",
       }},
      {"sgemm_small",
       {
           "BM=16,BN=16,TM=2,TN=2,SLICED_K=8,BK=128",
           "BM=64,BN=32,TM=8,TN=4,SLICED_K=4,BK=64",
           "BM=64,BN=64,TM=8,TN=4,SLICED_K=2,BK=32",
           "BM=16,BN=32,TM=4,TN=4,SLICED_K=8,CLUSTER_K=8,BK=64",
           "BM=64,BN=64,TM=8,TN=4,SLICED_K=1,CLUSTER_K=8,BK=32",
       }},
      {"sgemm_tma",
       {
           "D_CACHE_HINT=evict_first",
           "BM=128,BN=256,TM=8,TN=16,STAGES=6",
           "BM=256,BN=128,TM=16,TN=8,FFMA_ORDER=row_serpentine",
           "BM=128,BN=64,TM=16,TN=8,SLICED_K=4,FFMA_ORDER=row_serpentine,DECOMPOSITION=data_parallel",
           "BM=32,BN=256,TM=8,TN=8,SLICED_K=2,STAGES=4,DECOMPOSITION=data_parallel",
           "BM=64,BN=64,TM=8,TN=8,SLICED_K=4,CLUSTER_K=2,DECOMPOSITION=data_parallel",
           "BM=64,BN=128,TM=8,TN=16,SLICED_K=4,CLUSTER_K=2,DECOMPOSITION=data_parallel",
           "BM=32,BN=128,TM=8,TN=8,SLICED_K=4,DECOMPOSITION=data_parallel",
           "BM=64,BN=128,TM=16,TN=8,SLICED_K=4,FFMA_ORDER=row_serpentine,DECOMPOSITION=data_parallel",
           "BM=64,BN=128,TM=8,TN=8,SLICED_K=2,STAGES=6,DECOMPOSITION=data_parallel",
           "BM=32,BN=128,TM=8,TN=8,SLICED_K=4,DECOMPOSITION=split_k",
           "BM=16,BN=128,TM=8,TN=8,SLICED_K=4,STAGES=4,LANES_M=2,DECOMPOSITION=data_parallel",
           "BM=128,BN=128,TM=16,TN=8,SLICED_K=2,STAGES=4,FFMA_ORDER=row_serpentine",
           "BM=64,BN=256,TM=16,TN=8,SLICED_K=2,STAGES=4,FFMA_ORDER=row_serpentine,DECOMPOSITION=split_k,TRANSPOSE_A="
           "shared",
           "BM=64,BN=128,TM=8,TN=8,SLICED_K=2,STAGES=6,DECOMPOSITION=data_parallel,TRANSPOSE_A=shared",
           "BM=64,BN=128,TM=8,TN=8,SLICED_K=2,STAGES=4,DECOMPOSITION=split_k,TRANSPOSE_A=shared,TRANSPOSE_B=shared",
           "BM=256,BN=64,TM=16,TN=8,SLICED_K=2,STAGES=4,FFMA_ORDER=row_serpentine,DECOMPOSITION=split_k",
           "BM=64,BN=64,TM=8,TN=8,SLICED_K=4,DECOMPOSITION=stream_k",
       }},
  };
  const std::vector<Problem> problems = fp32_problems();
  for (const TemplateDefinition& definition : fp32_templates()) {
    for (const char* text : winners.at(definition.name)) {
      const Variant winner = parse_variant(definition, text).value();
      EXPECT_TRUE(std::any_of(
          problems.begin(), problems.end(),
          [&](const Problem& problem) { return !why_illegal(definition, winner, problem, device()).value(); }))
          << definition.name << " " << winner.key();
    }
  }
}

TEST(SgemmSpace, SmallProductsAreSharedByAsManyCtasAsHaveWork) {
  const auto sharers = [](const Problem& problem, const DeviceInfo& on) {
    std::set<std::int64_t> found;
    const auto space = enumerate(testing::shipped_template("sgemm_small"), problem, on);
    EXPECT_TRUE(space) << space.error().text();
    for (const Variant& variant : space->variants) found.insert(std::get<std::int64_t>(*variant.find("CLUSTER_K")));
    return found;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(sharers(fp32_problem(64, 64, 2048), device()), ElementsAre(8)) << "few tiles, and a long sum";
  EXPECT_THAT(sharers(fp32_problem(64, 64, 512), device()), ElementsAre(4, 8));
  EXPECT_THAT(sharers(fp32_problem(128, 128, 100), device()), ElementsAre(1)) << "too short to share";
  EXPECT_THAT(sharers(fp32_problem(1024, 1024, 1024), device()), ElementsAre(1)) << "tiles enough";
  EXPECT_THAT(sharers(fp32_problem(64, 64, 2048), architecture_info("sm_80").value()), ElementsAre(1)) << "no clusters";
}

TEST(SgemmSpace, BarriersAndAnnouncementsCountAgainstTheLimitToTheByte) {
  const TemplateDefinition& definition = fp32_templates().back();
  const Variant variant =
      parse_variant(definition, "BM=32,BN=256,TM=8,TN=16,SLICED_K=4,STAGES=3,DECOMPOSITION=data_parallel").value();
  const Problem problem = fp32_problem(1024, 1024, 1024, "tn");
  DeviceInfo small = device();
  small.smem_per_block_bytes = 4 * 4 * 3 * 16 * (32 + 256) + 1024;
  EXPECT_EQ(why_illegal(definition, variant, problem, small).value(), std::nullopt);
  --small.smem_per_block_bytes;
  EXPECT_THAT(why_illegal(definition, variant, problem, small).value(),
              ::testing::Optional(::testing::HasSubstr("shared memory")));
}

TEST(SgemmSpace, OnlyWhatIsPackedTakesASecondKernel) {
  const TemplateDefinition& definition = fp32_templates().back();
  const auto kernels = [&](std::string_view layout, std::int64_t extent) {
    const auto plan = make_launch_plan(definition, definition.default_variant(),
                                       fp32_problem(extent, extent, extent, layout), device());
    return plan ? std::count_if(plan->kernels.begin(), plan->kernels.end(),
                                [](const KernelLaunch& kernel) { return kernel.symbol != "clear_flags"; })
                : 0;
  };
  EXPECT_EQ(kernels("tn", 512), 1);
  EXPECT_EQ(kernels("nn", 512), 2);
  EXPECT_EQ(kernels("tn", 511), 2);
}

}  // namespace
}  // namespace pgtune::space
