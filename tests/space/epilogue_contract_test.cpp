// SPDX-License-Identifier: MIT
// What a template says of the epilogues it fuses, and what it is told of the problem's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/template/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::space {
namespace {

using testing::device;
using ::testing::HasSubstr;
using testing::json;
using testing::parse_or_die;
using testing::problem;
using testing::sample_json;

Problem fused(const char* epilogue) {
  Problem out = problem();
  out.epilogue = parse_epilogue(epilogue).value();
  return out;
}

json fusing_json() {
  json document = sample_json();
  document["epilogues"] = {"bias", "relu"};
  return document;
}

TEST(EpilogueContract, AProblemNeedsAllOfItsEpilogue) {
  const TemplateDefinition none = parse_or_die(sample_json()), some = parse_or_die(fusing_json());
  for (const char* epilogue : {"none", "bias", "relu", "bias,relu"}) {
    EXPECT_TRUE(some.computes(fused(epilogue))) << epilogue;
    EXPECT_EQ(none.computes(fused(epilogue)), epilogue == std::string("none")) << epilogue;
  }
  EXPECT_FALSE(some.computes(fused("bias,gelu")));
  EXPECT_TRUE(some.has_types(fused("bias,gelu")));
}

TEST(EpilogueContract, WhatItLacksIsTheReason) {
  const auto reason = [](const json& document) {
    const auto space = enumerate(parse_or_die(document), fused("bias,gelu"), device());
    return space ? std::string() : space.error().text();
  };
  EXPECT_THAT(reason(fusing_json()), HasSubstr("does not fuse the epilogue bias+gelu; its epilogues are bias, relu"));
  EXPECT_THAT(reason(sample_json()), HasSubstr("does not fuse the epilogue bias+gelu; it has none"));
}

TEST(EpilogueContract, TheBiasIsAnOperandOfDsType) {
  json document = fusing_json();
  document["dtypes"] = {"f16"};
  document["kernels"][0]["arguments"].push_back({{"pointer", "bias"}});
  document["tensor_maps"][0]["operand"] = "bias";
  document["tensor_maps"][0]["type"] = "operand";
  Problem shape = fused("bias");
  shape.dtype = Dtype::kF16;
  const TemplateDefinition definition = parse_or_die(document);
  const auto plan = make_launch_plan(definition, definition.default_variant(), shape, device());
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->kernels[0].arguments.back().operand, Operand::kBias);
  EXPECT_EQ(plan->tensor_maps[0].type, TensorType::kFloat16);
}

TEST(EpilogueContract, ExpressionsAndMacrosKnowTheProblems) {
  json document = fusing_json();
  document["constraints"].push_back({{"expr", "ACTIVATION != 'relu' || BM < 128"}, {"reason", "r"}});
  document["defines"].push_back({{"name", "HAS_BIAS"}, {"expr", "HAS_BIAS"}});
  document["defines"].push_back({{"name", "ACTIVATION"}, {"expr", "ACTIVATION"}});
  const TemplateDefinition definition = parse_or_die(document);
  EXPECT_LT(enumerate(definition, fused("relu"), device())->variants.size(),
            enumerate(definition, fused("bias"), device())->variants.size());
  const auto macro = [&](const char* epilogue, const std::string& name) {
    const auto defines = make_defines(definition, definition.default_variant(), fused(epilogue), device()).value();
    const auto found = std::find_if(defines.begin(), defines.end(), [&](const Define& d) { return d.name == name; });
    return found == defines.end() ? std::string("absent") : found->value;
  };
  EXPECT_EQ(macro("bias,relu", "HAS_BIAS"), "1");
  EXPECT_EQ(macro("relu", "HAS_BIAS"), "0");
  EXPECT_EQ(macro("relu", "ACTIVATION"), macro("relu", "LABEL_relu"));
  EXPECT_EQ(macro("bias", "ACTIVATION"), macro("bias", "LABEL_none"));
  for (const char* label : {"LABEL_none", "LABEL_relu", "LABEL_gelu", "LABEL_silu"})
    EXPECT_NE(macro("bias", label), "absent");
}

}  // namespace
}  // namespace pgtune::space
