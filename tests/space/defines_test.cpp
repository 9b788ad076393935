// SPDX-License-Identifier: MIT
// The macros a variant is compiled with, and the facts of problem and device they come from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/template/sample_template.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::space {
namespace {

using testing::device;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;
using testing::parse_or_die;
using testing::problem;
using testing::sample_json;

TEST(Defines, HoldLabelsParametersDerivedAndDefines) {
  const TemplateDefinition definition = parse_or_die(sample_json());
  const auto defines = make_defines(definition, definition.default_variant(), problem(500), device());
  ASSERT_TRUE(defines) << defines.error().text();
  EXPECT_THAT(*defines,
              ElementsAre(Define{"LABEL_ldg", std::to_string(label_value("ldg"))},
                          Define{"LABEL_cp_async", std::to_string(label_value("cp_async"))}, Define{"BM", "64"},
                          Define{"TM", "4"}, Define{"COPY", "LABEL_cp_async"}, Define{"THREADS", "256"},
                          Define{"SMEM_BYTES", "8192"}, Define{"EDGE", "1"}, Define{"NO_EDGE", "0"}));
}

TEST(Defines, EdgesMayBeThereAlways) {
  const TemplateDefinition definition = parse_or_die(sample_json());
  const auto last_two = [&](std::int64_t m, Edges edges) {
    const auto defines = make_defines(definition, definition.default_variant(), problem(m), device(), edges).value();
    return std::vector<Define>(defines.end() - 2, defines.end());
  };
  const std::vector<Define> with{{"EDGE", "1"}, {"NO_EDGE", "0"}}, without{{"EDGE", "0"}, {"NO_EDGE", "1"}};
  EXPECT_EQ(last_two(500, Edges::kOfProblem), with);
  EXPECT_EQ(last_two(512, Edges::kOfProblem), without);
  EXPECT_EQ(last_two(512, Edges::kAlways), with) << "and what follows from it";
}

TEST(Defines, LabelsSharedByParametersAppearOnce) {
  json document = sample_json();
  document["parameters"].push_back({{"name", "CACHE"}, {"values", {"ldg", "other"}}, {"default", "other"}});
  const TemplateDefinition definition = parse_or_die(document);
  int labels = 0;
  const auto defines = make_defines(definition, definition.default_variant(), problem(), device());
  for (const Define& define : defines.value()) {
    labels += define.name == "LABEL_ldg" ? 1 : 0;
  }
  EXPECT_EQ(labels, 1);
}

TEST(Defines, BuiltInFactsAreHandedOnUnderTheirOwnName) {
  json document = sample_json();
  document["defines"].push_back({{"name", "TRANS_A"}, {"expr", "TRANS_A"}});
  document["defines"].push_back({{"name", "ARCH"}, {"expr", "ARCH"}});
  const TemplateDefinition definition = parse_or_die(document);
  Problem shape = problem(512, 512, 512);
  shape.trans_a = true;
  const auto defines = make_defines(definition, definition.default_variant(), shape, device());
  ASSERT_TRUE(defines) << defines.error().text();
  EXPECT_EQ(defines->at(defines->size() - 2), (Define{"TRANS_A", "1"}));
  EXPECT_EQ(defines->back(), (Define{"ARCH", "90"}));
  document["defines"].push_back({{"name", "TRANS_B"}, {"expr", "!TRANS_B"}});
  EXPECT_THAT(testing::parse(document).error().text(), HasSubstr("'TRANS_B' is already a fact of the problem"));
}

TEST(Defines, ErrorsNameTheDefineAndTheVariant) {
  json document = sample_json();
  document["defines"].push_back({{"name", "BROKEN"}, {"expr", "M / (BM - 64)"}});
  const TemplateDefinition definition = parse_or_die(document);
  const auto defines = make_defines(definition, definition.default_variant(), problem(), device());
  EXPECT_EQ(defines.error().text(),
            "template 'sample': define 'BROKEN': division by zero\n  M / (BM - 64)\n    ^\n"
            "  with BM=64,TM=4,COPY=cp_async");
}

/// What `expression` is worth as a define.
std::string value_of(const std::string& expression, const Problem& shape) {
  json document = sample_json();
  document["defines"] = json::array({{{"name", "X"}, {"expr", expression}}});
  const TemplateDefinition definition = parse_or_die(document);
  const auto defines = make_defines(definition, definition.default_variant(), shape, device());
  return defines ? defines->back().value : defines.error().text();
}

TEST(ProblemFacts, AreElementsAndBytes) {
  Problem shape = problem(10, 20, 30);
  shape.batch = 3;
  shape.trans_b = true;
  shape.lda = 32;
  shape.ldb = 40;
  shape.ldc = 24;
  shape.beta = 0.5;
  EXPECT_EQ(value_of("M * 10000 + N * 100 + K", shape), "102030");
  EXPECT_EQ(value_of("BATCH * 1000000 + LDA * 10000 + LDB * 100 + LDC", shape), "3324024");
  EXPECT_EQ(value_of("STRIDE_A", shape), "320");
  EXPECT_EQ(value_of("STRIDE_B", shape), "800");
  EXPECT_EQ(value_of("STRIDE_C", shape), "240");
  EXPECT_EQ(value_of("TRANS_A * 10 + TRANS_B", shape), "1");
  EXPECT_EQ(value_of("ALPHA_IS_ONE * 10 + BETA_IS_ZERO", shape), "10");
  EXPECT_EQ(value_of("ELEM_BYTES", shape), "4");
}

TEST(ProblemFacts, TypesFollowTheDtypeAndTheOutput) {
  json document = sample_json();
  document["dtypes"] = {"f32", "tf32", "tf32x3", "f16", "bf16", "e4m3", "e5m2", "int8"};
  document["outputs"] = {"f32", "f16", "bf16", "int32"};
  document["defines"] = json::array({{{"name", "X"}, {"expr", "ELEM_BYTES * 1000 + OUT_BYTES * 100 + ALIGN_C"}}});
  const TemplateDefinition definition = parse_or_die(document);
  const auto types = [&](Dtype dtype, std::optional<ElementType> output = std::nullopt) {
    Problem shape = problem(512, 10, 128);
    shape.dtype = dtype;
    shape.output = output;
    return make_defines(definition, definition.default_variant(), shape, device()).value().back().value;
  };
  EXPECT_EQ(types(Dtype::kF32), "4408");
  EXPECT_EQ(types(Dtype::kTf32), "4408");
  EXPECT_EQ(types(Dtype::kTf32x3), "4408");
  EXPECT_EQ(types(Dtype::kF16), "2204");
  EXPECT_EQ(types(Dtype::kBf16), "2204");
  EXPECT_EQ(types(Dtype::kBf16, ElementType::kFloat32), "2408");
  EXPECT_EQ(types(Dtype::kE5m2), "1204");
  EXPECT_EQ(types(Dtype::kInt8), "1408");
}

TEST(ProblemFacts, AKernelCanCompareItsDtype) {
  json document = sample_json();
  document["dtypes"] = {"tf32"};
  EXPECT_EQ(value_of("DTYPE == 'f32'", problem()), "1");
  EXPECT_EQ(value_of("DTYPE == 'bf16'", problem()), "0");
  document["defines"].push_back({{"name", "DTYPE"}, {"expr", "DTYPE"}});
  Problem shape = problem();
  shape.dtype = Dtype::kTf32;
  const TemplateDefinition definition = parse_or_die(document);
  const auto defines = make_defines(definition, definition.default_variant(), shape, device()).value();
  const auto macro = [&](const std::string& name) {
    const auto found = std::find_if(defines.begin(), defines.end(), [&](const Define& d) { return d.name == name; });
    return found == defines.end() ? std::string() : found->value;
  };
  EXPECT_EQ(macro("DTYPE"), macro("LABEL_tf32"));
  EXPECT_NE(macro("LABEL_tf32"), "");
  for (const Dtype dtype : all_dtypes()) EXPECT_NE(macro("LABEL_" + std::string(to_string(dtype))), "");
  // Builds of templates that do not ask stay what they were.
  const TemplateDefinition silent = parse_or_die(sample_json());
  const auto silent_defines = make_defines(silent, silent.default_variant(), problem(), device()).value();
  for (const Define& define : silent_defines) {
    EXPECT_NE(define.name, "LABEL_bf16");
  }
}

TEST(ProblemFacts, AlignmentIsThatOfEveryRow) {
  EXPECT_EQ(value_of("ALIGN_A", problem(8, 8, 131)), "4");
  EXPECT_EQ(value_of("ALIGN_A", problem(8, 8, 130)), "8");
  EXPECT_EQ(value_of("ALIGN_A", problem(8, 8, 4096)), "256");
  EXPECT_EQ(value_of("ALIGN_B", problem(8, 36, 8)), "16");
  Problem batched = problem(1, 64, 3);  // one row of 3 elements: strides of 12 bytes from matrix to matrix
  batched.lda = 64;
  EXPECT_EQ(value_of("ALIGN_A", batched), "256");
  batched.batch = 2;
  EXPECT_EQ(value_of("ALIGN_A", batched), "256");
  batched.lda = 6;
  EXPECT_EQ(value_of("ALIGN_A", batched), "8");
}

TEST(DeviceFacts, AreTheDevices) {
  const auto check = [](const std::string& expression) { return value_of(expression, problem()); };
  EXPECT_EQ(check("ARCH"), "90");
  EXPECT_EQ(check("SM_COUNT"), "132");
  EXPECT_EQ(check("SMEM_LIMIT"), "232448");
  EXPECT_EQ(check("SMEM_PER_SM"), "233472");
  EXPECT_EQ(check("REGS_PER_SM"), "65536");
  EXPECT_EQ(check("L2_BYTES"), std::to_string(50 << 20));
}

}  // namespace
}  // namespace pgtune::space
