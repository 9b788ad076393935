// SPDX-License-Identifier: MIT
// What operations may have beside the plain fields: sizes with a default, inputs that are not always there, the types
// of a product in any dtype, and errors of sums with a bias and an activation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/operations/sample_operation.hpp"
#include "tests/support/json_edit.hpp"
#include "tuner/model/rounding.hpp"

namespace pgtune::operation {
namespace {

using pgtune::testing::Edit;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;

/// Y = silu(X W^T + B).
json layer_json() {
  return json::parse(R"json({
    "schema": 1, "name": "layer", "dtypes": ["tf32", "bf16", "e5m2"],
    "dimensions": [{"name": "M"}, {"name": "N"}, {"name": "K"}, {"name": "LD", "default": "round_up(K, 8)"},
                   {"name": "HAS_B", "default": "0", "least": 0}, {"name": "F", "default": "'silu'"}],
    "buffers": [
      {"name": "X", "type": "dtype", "role": "in", "extents": ["M", "K"], "strides": ["LD", "1"], "room": "M * LD", "stream": 0},
      {"name": "W", "type": "dtype_b", "role": "in", "extents": ["N", "K"], "stream": 3},
      {"name": "B", "called": "the bias", "type": "output", "role": "in", "extents": ["N"], "when": "HAS_B", "instead": "Y"},
      {"name": "Y", "type": "output", "role": "out", "extents": ["M", "N"], "first_index": "row", "padding": "behind rows",
       "error": {"rule": "sum", "terms": "K", "arithmetic": "dtype", "further": "2 + HAS_B", "activation": "F"}}
    ],
    "reference": {"source": "layer.cu", "kernels": [
      {"symbol": "layer", "grid": ["M"], "block": ["256"],
       "arguments": [{"buffer": "X"}, {"buffer": "W"}, {"buffer": "B"}, {"value": "Y"}, {"scale": "Y"}, {"rounding": "Y"}, {"int64": "F"}]}]},
    "lesser": {"when": "F == 'silu'", "sizes": [{"name": "F", "expr": "'none'"}]},
    "null_test": false,
    "flops": "2 * M * N * K", "bytes": "ELEM_BYTES * (M + N) * K + OUT_BYTES * M * N", "unit": "TFLOP/s"
  })json");
}

Result<Problem> layer(std::string_view sizes, std::optional<Dtype> dtype = std::nullopt) {
  return make_problem(testing::parse(layer_json()).value(), parse_sizes(sizes).value(), dtype);
}

TEST(ProductParts, NoObjectHasFurtherFields) {
  pgtune::testing::expect_no_further_fields(layer_json(), testing::parse);
}

TEST(ProductParts, SizesHaveDefaults) {
  const Problem problem = layer("M=6,N=10,K=12").value();
  EXPECT_THAT(problem.operation->sizes_text(), HasSubstr("M=6,N=10,K=12,LD=16,HAS_B=0,F="));
  EXPECT_EQ(layer("M=6,N=10,K=12,LD=13").value().operation->buffers[0].strides[0], 13);
  EXPECT_THAT(layer("N=10").error().text(), HasSubstr("needs a size M: give --size M=...,N=...,K=..."));
  EXPECT_THAT(layer("M=6,N=10,K=12,LD=0").error().text(), HasSubstr("LD is 0"));
  EXPECT_THAT(layer("M=6,N=10,K=12,HAS_B=-1").error().text(), HasSubstr("HAS_B is -1, but must be at least 0"));
}

TEST(ProductParts, AnInputMayBeAbsent) {
  const OperationProblem without = *layer("M=6,N=10,K=12").value().operation;
  EXPECT_TRUE(without.buffers[2].absent);
  EXPECT_EQ(without.buffers[2].instead, 3);
  EXPECT_EQ(without.buffers[2].bytes(), 0);
  EXPECT_FALSE(without.buffers[2].is_left_alone());
  const OperationProblem with = *layer("M=6,N=10,K=12,HAS_B=1").value().operation;
  EXPECT_FALSE(with.buffers[2].absent);
  EXPECT_EQ(with.buffers[2].instead, std::nullopt);
  EXPECT_EQ(with.buffers[2].bytes(), 10 * 4);
  EXPECT_EQ(with.buffers[2].title(), "the bias");
  EXPECT_EQ(with.buffer_bytes(), without.buffer_bytes() + 40);
}

TEST(ProductParts, TypesAreThoseOfAProduct) {
  const auto types = [](Dtype dtype) {
    std::vector<ElementType> out;
    const Problem problem = layer("M=6,N=10,K=12", dtype).value();
    for (const OperationBuffer& buffer : problem.operation->buffers) out.push_back(buffer.type);
    return out;
  };
  using enum ElementType;
  EXPECT_THAT(types(Dtype::kTf32), ElementsAre(kFloat32, kFloat32, kFloat32, kFloat32));
  EXPECT_THAT(types(Dtype::kE5m2), ElementsAre(kE5m2, kE4m3, kBfloat16, kBfloat16));
  EXPECT_EQ(layer("M=6,N=10,K=12", Dtype::kE5m2).value().traffic_bytes(), 16 * 12 + 2 * 60);
}

TEST(ProductParts, ErrorsAndRoundingFollowTheSum) {
  const OperationProblem problem = *layer("M=6,N=10,K=12,HAS_B=1", Dtype::kBf16).value().operation;
  const double of_sum = sum_error(Dtype::kBf16, 12, 3), roundoff = unit_roundoff(ElementType::kBfloat16);
  EXPECT_EQ(problem.buffers[3].error,
            activated({of_sum, roundoff, absolute_error(ElementType::kBfloat16)}, Activation::kSilu));
  EXPECT_EQ(problem.reference[0].arguments[5],
            (ReferenceArgument{ReferenceArgumentKind::kFloat64, 0, roundoff / of_sum}));
  EXPECT_EQ(layer("M=6,N=10,K=12").value().operation->reference[0].arguments[5].real, 0) << "float32 is not rounded";
  EXPECT_THAT(layer("M=6,N=10,K=12,F=7").error().text(), HasSubstr("'F' is the label of no activation"));
}

TEST(ProductParts, WhatALibraryComputesIsTheOperationWithOtherSizes) {
  const OperationProblem problem = *layer("M=6,N=10,K=12", Dtype::kBf16).value().operation;
  ASSERT_TRUE(problem.lesser);
  const OperationProblem lesser = problem.with_lesser_result();
  EXPECT_EQ(lesser.buffers[3].error, activated({sum_error(Dtype::kBf16, 12, 2), unit_roundoff(ElementType::kBfloat16),
                                                absolute_error(ElementType::kBfloat16)},
                                               Activation::kNone));
  EXPECT_NE(lesser.reference, problem.reference);
  EXPECT_FALSE(lesser.lesser);
}

TEST(ProductParts, WhatIsAbsentIsNobodysOperand) {
  OperationProblem problem = *layer("M=6,N=10,K=12").value().operation;
  problem.baselines = {LibraryProduct{.a = 0, .b = 2, .d = 3}};
  EXPECT_THAT(check_operation_problem(problem).error().text(), HasSubstr("one is absent"));
  problem = *layer("M=6,N=10,K=12").value().operation;
  problem.buffers[2].instead.reset();
  problem.buffers[3].absent = true;
  EXPECT_THAT(check_operation_problem(problem).error().text(), HasSubstr("only inputs of elements may be absent"));
  problem = *layer("M=6,N=10,K=12").value().operation;
  problem.buffers[2].instead = 2;
  EXPECT_THAT(check_operation_problem(problem).error().text(), HasSubstr("no buffer in its place"));
  problem.buffers[2].instead = 4;
  EXPECT_THAT(check_operation_problem(problem).error().text(), HasSubstr("no buffer in its place"));
}

class MalformedParts : public ::testing::TestWithParam<Edit> {};

TEST_P(MalformedParts, AreRefused) { expect_refusal(layer_json(), GetParam(), testing::parse); }

INSTANTIATE_TEST_SUITE_P(
    All, MalformedParts,
    ::testing::Values(Edit{"/dimensions/3/default", "\"HAS_B\"", "dimensions[3].default: ", "unknown name 'HAS_B'"},
                      Edit{"/dimensions/4/least", "-1", "dimensions[4].least: ", "not negative"},
                      Edit{"/buffers/3/when", "\"HAS_B\"", "buffers[3].when: ", "only buffers with the role in"},
                      Edit{"/buffers/2/when", "", "buffers[2].instead: ", "belongs to \"when\""},
                      Edit{"/buffers/2/instead", "\"B\"", "buffers[2].instead: ", "not one of X, W, Y"},
                      Edit{"/buffers/1/stream", "4", "buffers[1].stream: ", "0 to 3"},
                      Edit{"/buffers/3/stream", "1", "buffers[3].stream: ", "only inputs are filled"},
                      Edit{"/buffers/0/padding", "\"x\"", "buffers[0].padding: ", "of outputs"},
                      Edit{"/buffers/2/first_index", "\"x\"", "buffers[2].first_index: ", "two indices or more"},
                      Edit{"/buffers/3/error/rule", "\"exact\"", "buffers[3].error.", "belongs to the rule"},
                      Edit{"/reference/kernels/0/arguments/5", "{\"rounding\": \"X\"}",
                           "reference.kernels[0].arguments[5].rounding: ", "not one of Y"},
                      Edit{"/lesser/sizes/0/name", "\"G\"", "lesser.sizes[0].name: ", "not one of M, N, K"},
                      Edit{"/null_test", "1", "null_test: ", "true or false"},
                      Edit{"/baselines", "[{\"gemm\": \"cublaslt\"}]", "baselines[0]: ", "unknown field 'gemm'"}));

}  // namespace
}  // namespace pgtune::operation
