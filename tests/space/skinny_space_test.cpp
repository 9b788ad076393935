// SPDX-License-Identifier: MIT
// The space of gemm_skinny: there where D has few rows or columns, on every GPU from sm_80 on, and small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/space/shipped_template.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::space {
namespace {

const TemplateDefinition& skinny_template() {
  static const TemplateDefinition definition = testing::shipped_template("gemm_skinny");
  return definition;
}

Problem skinny_problem(std::string_view shape, std::string_view layout, Dtype dtype = Dtype::kF32) {
  return testing::shaped_problem(dtype, parse_shape(shape).value(), layout);
}

Enumeration space_of(const Problem& problem, const char* architecture = "sm_90a") {
  auto space = enumerate(skinny_template(), problem, architecture_info(architecture).value());
  EXPECT_TRUE(space) << space.error().text();
  return space ? *space : Enumeration{};
}

/// The values that the preset's variants have of a parameter.
std::vector<std::int64_t> values(const Enumeration& space, std::string_view name) {
  std::vector<std::int64_t> all;
  for (const Variant& variant : space.variants) all.push_back(std::get<std::int64_t>(*variant.find(name)));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

TEST(SkinnySpace, HasAFewDozenVariantsOfWhatIsSkinny) {
  for (const char* architecture : {"sm_80", "sm_90a", "sm_120"}) {
    for (const char* layout : {"nn", "nt", "tn", "tt"}) {
      for (const char* shape : {"1x4096x4096", "2x11008x2048", "4096x8x4096", "16x5000x3000", "3x1001x777"}) {
        const std::size_t count = space_of(skinny_problem(shape, layout), architecture).variants.size();
        EXPECT_GE(count, 4U) << shape << " " << layout << " " << architecture;
        EXPECT_LE(count, 160U) << shape << " " << layout << " " << architecture;
      }
    }
  }
}

TEST(SkinnySpace, HasNothingWhereRowsAndColumnsAreMany) {
  EXPECT_EQ(space_of(skinny_problem("17x17x4096", "nt")).legal, 0);
  EXPECT_GT(space_of(skinny_problem("16x17x4096", "nt")).legal, 0);
  EXPECT_GT(space_of(skinny_problem("17x16x4096", "nt")).legal, 0);
}

// The lines of the larger operand decide, wherever they start and end: B's rows of 4097 floats, its columns of 4095.
TEST(SkinnySpace, LoadsAsWideAsLinesOfTheLargerOperandAllow) {
  EXPECT_THAT(values(space_of(skinny_problem("2x4096x4096", "nt")), "VEC_BYTES"), ::testing::ElementsAre(16));
  EXPECT_THAT(values(space_of(skinny_problem("2x4096x4098", "nt")), "VEC_BYTES"), ::testing::ElementsAre(8));
  EXPECT_THAT(values(space_of(skinny_problem("2x4096x4097", "nt")), "VEC_BYTES"), ::testing::ElementsAre(4));
  EXPECT_THAT(values(space_of(skinny_problem("2x4095x4096", "nn")), "VEC_BYTES"), ::testing::ElementsAre(4));
  EXPECT_THAT(values(space_of(skinny_problem("4096x2x4098", "nn")), "VEC_BYTES"), ::testing::ElementsAre(8));
  EXPECT_THAT(values(space_of(skinny_problem("2x4096x4097", "nt", Dtype::kE4m3)), "VEC_BYTES"),
              ::testing::ElementsAre(1));
}

// What lies across K has one vector a lane; what is stored along K needs no kernel that lays it out.
TEST(SkinnySpace, LaysTheFewVectorsOutWhereTheyLieAcross) {
  const auto prepared = [](const Enumeration& space) {
    return std::count_if(space.variants.begin(), space.variants.end(), [](const Variant& variant) {
      return *variant.find("FEW_SOURCE") == ParameterValue{std::string("prepared")};
    });
  };
  EXPECT_GT(prepared(space_of(skinny_problem("4096x8x4096", "nn"))), 0);
  EXPECT_EQ(prepared(space_of(skinny_problem("4096x8x4096", "nt"))), 0);
  EXPECT_THAT(values(space_of(skinny_problem("4x4096x4096", "nn")), "LINES"), ::testing::ElementsAre(1));
}

TEST(SkinnySpace, LaunchesInAChainOverlapWhereBIsTheLargerOperand) {
  Problem problem = skinny_problem("2x4096x4096", "nt");
  problem.chained = true;
  const DeviceInfo device = architecture_info("sm_90a").value();
  const auto plan_of = [&](const Problem& of) {
    return make_launch_plan(skinny_template(), space_of(of).variants.front(), of, device).value();
  };
  EXPECT_TRUE(plan_of(problem).kernels.front().overlaps_previous);
  problem = skinny_problem("4096x2x4096", "nt");
  problem.chained = true;
  EXPECT_FALSE(plan_of(problem).kernels.front().overlaps_previous);
}

}  // namespace
}  // namespace pgtune::space
