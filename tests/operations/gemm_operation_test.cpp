// SPDX-License-Identifier: MIT
// What workers are given of GEMM is what they made of it themselves when it was built into them: buffers, streams of
// data, bounds, flops and bytes, by the formulas as they stood in tuner/gpu then.
#include "tuner/operation/gemm_operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tuner/model/json.hpp"
#include "tuner/model/rounding.hpp"

namespace pgtune::operation {
namespace {

using ::testing::HasSubstr;

/// Every dtype with each of its outputs, in all layouts, packed and not, one matrix and three, with and without what is
/// fused and added.
std::vector<Problem> problems() {
  std::vector<Problem> out;
  for (const Dtype dtype : all_dtypes()) {
    for (const ElementType output : output_types(dtype)) {
      for (const char* layout : {"nn", "nt", "tn", "tt"}) {
        for (const bool padded : {false, true}) {
          for (const double beta : {0.0, 2.0}) {
            for (const bool bias : {false, true}) {
              for (const Activation activation : all_activations()) {
                if (traits(dtype).is_integer() && (bias || activation != Activation::kNone)) continue;
                Problem problem = with_layout(parse_shape("127x65x33").value(), layout).value();
                problem.dtype = dtype;
                problem.output = output;
                problem.batch = padded ? 3 : 1;
                problem.beta = beta;
                problem.alpha = padded ? 3 : 1;
                problem.epilogue = {bias, activation};
                if (padded) {
                  problem.lda = problem.columns_a() + 7;
                  problem.ldb = problem.columns_b() + 1;
                  problem.ldc = problem.n + 3;
                }
                out.push_back(with_default_strides(problem).value());
              }
            }
          }
        }
      }
    }
  }
  return out;
}

const OperationBuffer& buffer_of(const OperationProblem& operation, Operand operand) {
  return operation.buffers.at(buffer_of_operand(operand).value());
}

double expected_sum_error(const Problem& problem) {
  return sum_error(problem.dtype, problem.k, problem.epilogue.bias ? 5 : 4);
}

ToleratedError expected_bound(const Problem& problem) {
  ToleratedError bound{expected_sum_error(problem), unit_roundoff(problem.type_of_c()),
                       absolute_error(problem.type_of_c())};
  const ActivationError activation = activation_error(problem.epilogue.activation);
  const double rounding = 1 + bound.per_result;
  bound.per_scale *= activation.slope * (1 + activation.relative) * rounding;
  bound.per_result += activation.relative * rounding;
  bound.absolute += activation.absolute * rounding;
  return bound;
}

double expected_argument_rounding(const Problem& problem) {
  const double roundoff = unit_roundoff(problem.type_of_c());
  return roundoff == 0 ? 0 : roundoff / expected_sum_error(problem);
}

void expect_matrix(const OperationBuffer& buffer, ElementType type, const std::vector<std::int64_t>& extents,
                   std::int64_t ld, std::int64_t bytes) {
  EXPECT_EQ(buffer.type, type);
  EXPECT_EQ(buffer.extents, extents);
  EXPECT_EQ(buffer.strides, (std::vector<std::int64_t>{extents[1] * ld, ld, 1}));
  EXPECT_EQ(buffer.bytes(), bytes);
  EXPECT_EQ(buffer.alignment, 256);
  EXPECT_FALSE(buffer.absent);
}

TEST(GemmOperation, HasTheBuffersBoundsAndScalarsOfTheShortForm) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.key());
    const Problem sent = with_operation(p).value();
    const OperationProblem& operation = *sent.operation;
    ASSERT_EQ(operation.buffers.size(), 5U);
    const std::int64_t element = element_bytes(p.dtype), element_c = element_bytes(p.type_of_c());
    expect_matrix(buffer_of(operation, Operand::kA), type_of_a(p.dtype), {p.batch, p.rows_a(), p.columns_a()}, p.lda,
                  p.stride_a() * p.batch * element);
    expect_matrix(buffer_of(operation, Operand::kB), type_of_b(p.dtype), {p.batch, p.rows_b(), p.columns_b()}, p.ldb,
                  p.stride_b() * p.batch * element);
    const OperationBuffer &c = buffer_of(operation, Operand::kC), &bias = buffer_of(operation, Operand::kBias),
                          &d = buffer_of(operation, Operand::kD);
    expect_matrix(d, p.type_of_c(), {p.batch, p.m, p.n}, p.ldc, p.stride_c() * p.batch * element_c);
    EXPECT_EQ(c.absent, p.beta == 0);
    if (!c.absent) expect_matrix(c, p.type_of_c(), {p.batch, p.m, p.n}, p.ldc, p.stride_c() * p.batch * element_c);
    EXPECT_EQ(bias.absent, !p.epilogue.bias);
    EXPECT_EQ(bias.bytes(), p.bias_bytes());
    for (const OperationBuffer* buffer : {&c, &bias})
      EXPECT_EQ(buffer->instead, buffer->absent ? buffer_of_operand(Operand::kD) : std::nullopt);
    EXPECT_EQ(d.error, expected_bound(p));
    EXPECT_EQ(operation.flops, p.flops());
    EXPECT_EQ(operation.bytes, p.traffic_bytes());
    EXPECT_EQ(operation.buffer_bytes(), p.operand_bytes());
    EXPECT_EQ(sent.flops(), p.flops());
    EXPECT_EQ(sent.operand_bytes(), p.operand_bytes());
    EXPECT_EQ(operation.find_scalar("alpha"), p.alpha);
    EXPECT_EQ(operation.find_scalar("beta"), p.beta);
    EXPECT_NE(operation.gemm_baseline(), nullptr);
    EXPECT_FALSE(operation.null_test);
  }
}

TEST(GemmOperation, ItsBuffersAreFilledFromStreamsInOrder) {
  const Problem sent = with_operation(problems().front()).value();
  std::vector<std::optional<std::int64_t>> streams;
  for (const OperationBuffer& buffer : sent.operation->buffers) {
    streams.push_back(buffer.stream);
    EXPECT_EQ(buffer.fill, FillKind::kData);
  }
  EXPECT_EQ(streams, (std::vector<std::optional<std::int64_t>>{0, 1, 2, 3, std::nullopt}));
}

TEST(GemmOperation, ItsReferenceIsLaunchedWithSizesStridesAndScalars) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.key());
    const Problem sent = with_operation(p).value();
    ASSERT_EQ(sent.operation->reference.size(), 1U);
    const ReferenceLaunch& launch = sent.operation->reference.front();
    EXPECT_EQ(launch.grid, (Dim3{((p.m + 63) / 64) * ((p.n + 63) / 64), p.batch}));
    EXPECT_EQ(launch.block, (Dim3{256}));
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    for (const ReferenceArgument& argument : launch.arguments) {
      if (argument.kind == ReferenceArgumentKind::kInt64) integers.push_back(argument.integer);
      if (argument.kind == ReferenceArgumentKind::kFloat64 || argument.kind == ReferenceArgumentKind::kFloat32)
        reals.push_back(argument.real);
    }
    EXPECT_EQ(integers,
              (std::vector<std::int64_t>{p.m, p.n, p.k, p.batch, p.trans_a ? 1 : p.lda, p.trans_a ? p.lda : 1,
                                         p.stride_a(), p.trans_b ? 1 : p.ldb, p.trans_b ? p.ldb : 1, p.stride_b(),
                                         p.ldc, p.stride_c(), static_cast<int>(p.epilogue.activation)}));
    EXPECT_EQ(reals, (std::vector<double>{expected_argument_rounding(p), p.alpha, p.beta}));
  }
}

TEST(GemmOperation, WhatCublasLtCannotFuseItIsComparedWithout) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.key());
    const Problem sent = with_operation(p).value();
    ASSERT_EQ(sent.operation->lesser.has_value(), !cublaslt_fuses(p.epilogue.activation));
    if (!sent.operation->lesser) continue;
    Problem plain = p;
    plain.epilogue.activation = Activation::kNone;
    const OperationProblem expected = *with_operation(plain).value().operation,
                           lesser = sent.operation->with_lesser_result();
    EXPECT_EQ(lesser.reference, expected.reference);
    EXPECT_EQ(lesser.buffers, expected.buffers);
    EXPECT_EQ(lesser.source, expected.source);
  }
}

TEST(GemmOperation, IsCalledAsBefore) {
  for (const Problem& p : problems()) {
    const Problem sent = with_operation(p).value();
    EXPECT_EQ(sent.key(), p.key());
    EXPECT_EQ(sent.title(), p.title());
    EXPECT_EQ(sent.shape(), p.shape());
    EXPECT_EQ(sent.speed_unit(), p.speed_unit());
    EXPECT_EQ(sent.speed(1e-3), p.speed(1e-3));
    EXPECT_EQ(sent, p);
    EXPECT_TRUE(sent.is_gemm());
  }
}

TEST(GemmOperation, ReachesWorkersWhole) {
  const Problem p = problems().back(), sent = with_operation(p).value();
  const auto read = nlohmann::json(sent).get<Problem>();
  EXPECT_EQ(read, p);
  ASSERT_TRUE(read.operation);
  EXPECT_EQ(*read.operation, *sent.operation);
  EXPECT_FALSE(nlohmann::json(p).contains("operation")) << "databases keep its members alone";
  auto broken = nlohmann::json(sent);
  broken["operation"]["buffers"][0]["strides"][0] = 0;
  EXPECT_THROW(static_cast<void>(broken.get<Problem>()), nlohmann::json::exception);
}

TEST(GemmOperation, OtherOperationsStayAsTheyAre) {
  OperationProblem numbers = *with_operation(problems().front()).value().operation;
  numbers.name = "another";
  numbers.baselines.clear();
  const Problem other = problem_of(numbers, Dtype::kF32).value();
  EXPECT_FALSE(other.is_gemm());
  EXPECT_EQ(with_operation(other).value(), other);
  EXPECT_NE(other, problems().front());
}

/// What host code asks of any problem.
TEST(AnyProblem, SaysItsNameSizesScalarsAndKind) {
  Problem gemm = parse_shape("127x65x33").value();
  gemm.dtype = Dtype::kBf16;
  gemm.batch = 3;
  gemm.beta = 0.5;
  gemm = with_default_strides(gemm).value();
  for (const Problem& p : {gemm, with_operation(gemm).value()}) {
    EXPECT_EQ(p.operation_name(), kGemmName);
    EXPECT_EQ(p.sizes(), (std::vector<NamedValue>{{"M", 127}, {"N", 65}, {"K", 33}, {"BATCH", 3}}));
    EXPECT_EQ(p.scalar("alpha"), 1);
    EXPECT_EQ(p.scalar("beta"), 0.5);
    EXPECT_EQ(p.scalar("gamma"), 0);
    EXPECT_TRUE(p.has_dtype());
    EXPECT_EQ(p.kind(), "bf16");
    EXPECT_TRUE(p.is_of_kind(gemm));
  }
  OperationProblem numbers = *with_operation(gemm).value().operation;
  numbers.name = "another";
  numbers.baselines.clear();
  const Problem typed = problem_of(numbers, Dtype::kBf16).value();
  EXPECT_EQ(typed.operation_name(), "another");
  EXPECT_EQ(typed.sizes(), numbers.sizes);
  EXPECT_EQ(typed.scalar("beta"), 0.5);
  EXPECT_EQ(typed.scalar("gamma"), 0);
  EXPECT_EQ(typed.kind(), "another bf16");
  EXPECT_EQ(typed.title(), "another bf16 " + numbers.sizes_text());
  EXPECT_FALSE(typed.is_of_kind(gemm));
  EXPECT_FALSE(gemm.is_of_kind(typed));
  EXPECT_FALSE(typed.is_of_kind(problem_of(numbers, Dtype::kF16).value()));
  numbers.has_dtypes = false;
  numbers.content_hash = "2";
  const Problem untyped = problem_of(numbers, Dtype::kF32).value();
  EXPECT_FALSE(untyped.has_dtype());
  EXPECT_EQ(untyped.kind(), "another");
  EXPECT_FALSE(untyped.is_of_kind(problem_of(*typed.operation, Dtype::kF32).value())) << "of another version";
  Problem fused = gemm;
  fused.epilogue.bias = true;
  EXPECT_FALSE(fused.is_of_kind(gemm));
  fused = gemm;
  fused.output = ElementType::kFloat32;
  EXPECT_FALSE(fused.is_of_kind(gemm));
}

TEST(AnyProblem, SaysItsTitleInParts) {
  Problem gemm = parse_shape("127x65x33").value();
  gemm.dtype = Dtype::kBf16;
  gemm.batch = 3;
  gemm.beta = 0.5;
  gemm = with_layout(gemm, "nt").and_then(with_default_strides).value();
  for (const Problem& p : {gemm, with_operation(gemm).value()}) {
    const TitleParts parts = p.title_parts();
    EXPECT_EQ(parts.kind, "bf16");
    EXPECT_EQ(parts.shape, "127x65x33");
    EXPECT_EQ(parts.layout, "nt");
    EXPECT_EQ(parts.further, " batch 3 beta 0.5");
    EXPECT_EQ(p.title(), "127x65x33 bf16 nt batch 3 beta 0.5");
  }
  OperationProblem numbers = *with_operation(gemm).value().operation;
  numbers.name = "another";
  numbers.baselines.clear();
  const TitleParts parts = problem_of(numbers, Dtype::kBf16).value().title_parts();
  EXPECT_EQ(parts.kind, "another bf16");
  EXPECT_EQ(parts.shape, numbers.sizes_text());
  EXPECT_EQ(parts.layout + parts.further, "");
}

TEST(AnyProblem, IsComparedWithALibraryAloneWhereItsOperationSaysSo) {
  const Problem gemm = problems().front(), sent = with_operation(gemm).value();
  for (const Problem& p : {gemm, sent}) {
    const GemmBaseline* const library = gemm_baseline(p);
    ASSERT_NE(library, nullptr);
    EXPECT_EQ(library->library, BaselineLibrary::kCublasLt);
  }
  OperationProblem numbers = *sent.operation;
  numbers.name = "another";
  numbers.baselines.clear();
  EXPECT_EQ(gemm_baseline(problem_of(numbers, Dtype::kF32).value()), nullptr);
}

TEST(GemmOperation, SizesThatOverflowAreRefused) {
  Problem huge = parse_shape("300000000x300000000x1").value();
  const auto refused = with_default_strides(huge).and_then(with_operation);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().text(), HasSubstr("300000000x300000000x1"));
}

}  // namespace
}  // namespace pgtune::operation
