// SPDX-License-Identifier: MIT
// Batches beyond the 65,535 where a grid's y and z end: every dtype has kernels for them, whose matrices lie along x.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/space/shipped_template.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::space {
namespace {

Problem batched(Dtype dtype, const char* shape, std::int64_t batch, const char* layout = "nn") {
  Problem problem = parse_shape(shape).value();
  problem.batch = batch;
  return testing::shaped_problem(dtype, problem, layout);
}

/// Without the preset, which says what is worth trying.
TemplateDefinition legal_of(const char* name) {
  TemplateDefinition definition = testing::shipped_template(name);
  definition.preset.clear();
  return definition;
}

Enumeration space_of(const TemplateDefinition& definition, const Problem& problem) {
  auto space = enumerate(definition, problem, architecture_info("sm_90a").value());
  EXPECT_TRUE(space) << space.error().text();
  return space ? *space : Enumeration{};
}

bool has_kernels(const TemplateDefinition& definition, const Problem& problem) {
  const auto list = legal_variants(definition, problem, architecture_info("sm_90a").value());
  EXPECT_TRUE(list) << list.error().text();
  return list && !list->variants.empty();
}

std::string along_x(const TemplateDefinition& definition, const Variant& variant, const Problem& problem) {
  const auto defines = make_defines(definition, variant, problem, architecture_info("sm_90a").value());
  EXPECT_TRUE(defines) << defines.error().text();
  const auto found = std::find_if(defines->begin(), defines->end(),
                                  [](const Define& define) { return define.name == "BATCH_ALONG_X"; });
  return found == defines->end() ? "" : found->value;
}

TEST(BatchSpace, MatricesLieAcrossTheGridUpToItsEndAndAlongXBeyond) {
  for (const char* name : {"sgemm_small", "sgemm_simt", "gemm_skinny"}) {
    const TemplateDefinition definition = legal_of(name);
    for (const std::int64_t batch : {2, 65535, 65536, 70000}) {
      const Problem problem = batched(Dtype::kF32, "16x48x20", batch);
      const Enumeration space = space_of(definition, problem);
      ASSERT_FALSE(space.variants.empty()) << name << " " << batch;
      for (const Variant* variant : {&space.variants.front(), &space.variants.back()}) {
        EXPECT_EQ(along_x(definition, *variant, problem), batch > 65535 ? "1" : "0") << name << " " << batch;
        const auto plan = make_launch_plan(definition, *variant, problem, architecture_info("sm_90a").value());
        ASSERT_TRUE(plan) << plan.error().text();
        for (const KernelLaunch& kernel : plan->kernels) {
          const auto across = kernel.grid.y * kernel.grid.z;
          EXPECT_EQ(across, batch > 65535 ? 1 : batch) << name;
          EXPECT_EQ(kernel.grid.x % (batch > 65535 ? batch : 1), 0) << name;
        }
      }
    }
  }
}

TEST(BatchSpace, EveryDtypeHasKernelsForALargeBatch) {
  const TemplateDefinition small = legal_of("sgemm_small"), wgmma = legal_of("gemm_wgmma");
  for (const Dtype dtype : {Dtype::kF32, Dtype::kTf32, Dtype::kTf32x3, Dtype::kBf16, Dtype::kF16, Dtype::kE4m3}) {
    for (const char* layout : {"nn", "nt", "tn", "tt"}) {
      for (const char* shape : {"16x16x16", "17x19x23", "128x128x64"})
        EXPECT_TRUE(has_kernels(small, batched(dtype, shape, 70000, layout)))
            << to_string(dtype) << " " << layout << " " << shape;
    }
  }
  // Kernels that read whole tiles by TMA go through the batch themselves; only a kernel before them ends at 65,535.
  EXPECT_TRUE(has_kernels(wgmma, batched(Dtype::kBf16, "128x128x64", 70000, "nt")));
  EXPECT_TRUE(has_kernels(legal_of("sgemm_tma"), batched(Dtype::kF32, "128x128x64", 70000, "nt")));
  EXPECT_FALSE(has_kernels(wgmma, batched(Dtype::kTf32x3, "128x128x64", 70000, "nt")));
}

TEST(BatchSpace, WhatAGridCannotHoldIsRefusedWithItsLimit) {
  constexpr std::int64_t kMost = 2147483647;
  const TemplateDefinition definition = legal_of("sgemm_small");
  EXPECT_GT(space_of(definition, batched(Dtype::kF32, "16x16x16", kMost)).legal, 0);
  const Enumeration space = space_of(definition, batched(Dtype::kF32, "65x65x16", kMost));
  EXPECT_EQ(space.legal, 0);
  EXPECT_TRUE(std::any_of(space.removals.begin(), space.removals.end(), [](const Removal& removal) {
    return removal.removed > 0 && removal.reason == "more CTAs than the 2147483647 of a grid";
  }));
}

}  // namespace
}  // namespace pgtune::space
