// SPDX-License-Identifier: MIT
// Facts that decide whether one kernel serves several problems: the same as one by one.
#include "tuner/space/variant_facts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/space/shipped_template.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::space {
namespace {

using testing::device;

std::string text_of(const std::vector<Define>& defines) {
  std::string text;
  for (const Define& define : defines) text += define.name + "=" + define.value + ";";
  return text;
}

/// Every 97th of the template's variants that are legal for M = 100.
std::vector<Variant> some_variants(const TemplateDefinition& definition, Dtype dtype) {
  constexpr std::size_t kStep = 97;
  const Problem problem = testing::shaped_problem(dtype, {.m = 100, .n = 512, .k = 1024}, "nt");
  const VariantList list = legal_variants(definition, problem, device()).value();
  std::vector<Variant> out;
  for (std::size_t i = 0; i < list.variants.size(); i += kStep) out.push_back(list.variants[i]);
  return out;
}

TEST(VariantFacts, AreThoseOfEachVariantAlone) {
  for (const auto& [name, dtype] : {std::pair{"gemm_wgmma", Dtype::kBf16},
                                    {"gemm_mma", Dtype::kTf32},
                                    {"sgemm_simt", Dtype::kF32},
                                    {"sgemm_tma", Dtype::kF32}}) {
    const TemplateDefinition definition = testing::shipped_template(name);
    const std::vector<Variant> variants = some_variants(definition, dtype);
    ASSERT_FALSE(variants.empty()) << name;
    std::map<std::string, std::map<std::string, std::uint64_t>> builds;  // by variant and defines
    for (const std::int64_t m : {1, 7, 64, 100, 128, 1000, 4096}) {
      const Problem problem = testing::shaped_problem(dtype, {.m = m, .n = 512, .k = 1024}, "nt");
      const auto facts = variant_facts(TemplateSet(definition), variants, problem, device());
      ASSERT_EQ(facts.size(), variants.size());
      for (std::size_t i = 0; i < variants.size(); ++i) {
        SCOPED_TRACE(variants[i].id() + " at " + std::to_string(m));
        EXPECT_EQ(facts[i].legal, !why_illegal(definition, variants[i], problem, device()).value());
        if (!facts[i].legal) continue;
        EXPECT_EQ(facts[i].clocks, cost_clocks(definition, variants[i], problem, device()).value().value_or(0));
        const std::string defines =
            text_of(make_defines(definition, variants[i], problem, device(), Edges::kAlways).value());
        builds[variants[i].id()].emplace(defines, facts[i].build);
        EXPECT_EQ(builds[variants[i].id()].at(defines), facts[i].build);
      }
    }
    for (const auto& [variant, of_defines] : builds) {
      std::set<std::uint64_t> different;
      for (const auto& [defines, build] : of_defines) different.insert(build);
      EXPECT_EQ(different.size(), of_defines.size()) << variant;
    }
  }
}

TEST(VariantFacts, OneBuildServesTilesWithAndWithoutEdges) {
  const TemplateDefinition definition = testing::shipped_template("gemm_mma");
  const std::vector<Variant> one{definition.default_variant()};
  const auto build_at = [&](std::int64_t m, const char* layout) {
    const Problem problem = testing::shaped_problem(Dtype::kBf16, {.m = m, .n = 512, .k = 1024}, layout);
    return variant_facts(TemplateSet(definition), one, problem, device()).front().build;
  };
  EXPECT_EQ(build_at(1000, "nt"), build_at(1024, "nt"));
  EXPECT_EQ(build_at(1001, "nt"), build_at(1024, "nt"));
  EXPECT_NE(build_at(1001, "tn"), build_at(1024, "tn")) << "rows of A are not aligned";
}

}  // namespace
}  // namespace pgtune::space
