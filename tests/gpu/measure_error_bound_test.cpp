// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/gpu/with_operation.hpp"
#include "tuner/model/rounding.hpp"

namespace pgtune::gpu {
namespace {

OperationProblem numbers_in(Problem problem) {
  problem.m = problem.n = 16;
  return numbers_of(with_default_strides(problem).value());
}

ErrorBound bound_in(const Problem& problem) { return error_bound(*numbers_in(problem).only_output()); }

/// The share of what is rounded before the last step that its reference counts as scale.
double argument_rounding(const Problem& problem) {
  const std::vector<ReferenceArgument> arguments = numbers_in(problem).reference.front().arguments;
  return std::find_if(
             arguments.begin(), arguments.end(),
             [](const ReferenceArgument& argument) { return argument.kind == ReferenceArgumentKind::kFloat64; })
      ->real;
}

ErrorBound bound_of(Dtype dtype, std::int64_t k, std::optional<ElementType> output = std::nullopt) {
  return bound_in(Problem{.k = k, .dtype = dtype, .output = output});
}

TEST(ErrorBound, GrowsWithTheRootOfK) {
  EXPECT_DOUBLE_EQ(bound_of(Dtype::kF32, 4096).per_scale / kUnitRoundoffFloat32, 2 * (64 + 4));
  EXPECT_DOUBLE_EQ(bound_of(Dtype::kF32, 1).per_scale / kUnitRoundoffFloat32, 10);
  // One missing product of average size at K = 4096 costs S / K, well outside the bound.
  EXPECT_GT(1.0 / 4096, 20 * bound_of(Dtype::kF32, 4096).per_scale);
}

TEST(ErrorBound, Float32IsBoundedByItsSumsAlone) {
  const ErrorBound bound = bound_of(Dtype::kF32, 64);
  EXPECT_EQ(bound.per_result, 0);
  EXPECT_EQ(bound.absolute, 0x1p-126);
  EXPECT_DOUBLE_EQ(bound.allowed(123, 7), 7 * summation_bound(64, kUnitRoundoffFloat32) + 0x1p-126);
}

TEST(ErrorBound, ANarrowResultMayBeHalfAUnitOff) {
  // The neighbour of 1 in bfloat16 is 1 + 2^-7: halfway is right, a whole unit is not.
  const ErrorBound bf16 = bound_of(Dtype::kBf16, 4096);
  EXPECT_GE(bf16.allowed(1, 0), 0x1p-8);
  EXPECT_LT(bf16.allowed(1, 1), 0x1p-7);
  const ErrorBound f16 = bound_of(Dtype::kF16, 4096);
  EXPECT_GE(f16.allowed(1, 0), 0x1p-11);
  EXPECT_LT(f16.allowed(1, 1), 0x1p-10);
  EXPECT_GE(f16.allowed(0, 0), 0x1p-25);
  EXPECT_EQ(f16.largest, 65504);
  EXPECT_EQ(bound_of(Dtype::kF16, 4096, ElementType::kFloat32).per_result, 0);
}

TEST(ErrorBound, ModesAreOrderedByTheirPrecision) {
  for (const std::int64_t k : {16, 4096, 65536}) {
    const double f32 = bound_of(Dtype::kF32, k).per_scale;
    const double bf16 = bound_of(Dtype::kBf16, k, ElementType::kFloat32).per_scale;
    EXPECT_LT(f32, bf16) << k;
    EXPECT_LT(bf16, bound_of(Dtype::kTf32x3, k).per_scale) << k;
    EXPECT_LT(2 * bound_of(Dtype::kTf32x3, k).per_scale, bound_of(Dtype::kTf32, k).per_scale) << k;
    EXPECT_LT(bf16, bound_of(Dtype::kE4m3, k).per_scale) << k;
    EXPECT_EQ(bound_of(Dtype::kE4m3, k).per_scale, bound_of(Dtype::kE5m2, k).per_scale) << k;
  }
}

TEST(ErrorBound, IntegersAreExact) {
  const ErrorBound bound = bound_of(Dtype::kInt8, 131071);
  EXPECT_LT(bound.allowed(1, 0x1p31), 1);
  EXPECT_GT(bound.allowed(0, 0), 0);  // errors are told as multiples of it
  const Problem problem{.k = 64, .dtype = Dtype::kInt8};
  EXPECT_EQ(argument_rounding(problem), 0);
}

TEST(ErrorBound, AMissingBlockOfKShowsInEveryMode) {
  // Sums of K uniform products have S = K / 4 and a deviation of sqrt(K) / 3; a k-block of 32 one of sqrt(32) / 3.
  // Among the elements of any real result some deviate by three times that.
  const std::int64_t k = 4096;
  for (const Dtype dtype : all_dtypes()) {
    const ErrorBound bound = bound_of(dtype, k);
    EXPECT_GT(3 * std::sqrt(32.0) / 3, 2 * bound.allowed(std::sqrt(static_cast<double>(k)) / 3, k / 4.0))
        << to_string(dtype);
  }
}

TEST(ErrorBound, Tf32OperandsMayBeCutOff) {
  // A single product of two operands just below the next tf32 number loses nearly 2^-9 of itself.
  const double operand = 1 + 0x1p-10 - 0x1p-23, cut = 1;
  EXPECT_LE(operand * operand - cut, bound_of(Dtype::kTf32, 1).allowed(operand * operand, operand * operand));
  // Of long sums the errors cancel: twice the depth does not double the bound.
  const auto error_of = [](std::int64_t k) { return bound_of(Dtype::kTf32, k).per_scale * static_cast<double>(k); };
  EXPECT_LT(error_of(8192), 1.5 * error_of(4096));
}

TEST(ErrorBound, Tf32x3OperandsMayBeSplitByCuttingOff) {
  const auto cut = [](double value, int bits) { return std::trunc(std::ldexp(value, bits)) / std::ldexp(1, bits); };
  // The worst operand: its low part of 13 ones keeps 11 of them.
  const double operand = 1 + 0x1p-10 - 0x1p-23, high = cut(operand, 10), low = cut(operand - high, 21);
  EXPECT_EQ(operand - high - low, 3 * 0x1p-23);
  const double exact = operand * operand, product = high * high + 2 * high * low;
  const ErrorBound bound = bound_of(Dtype::kTf32x3, 1);
  EXPECT_GT(exact - product, 0x1p-20);
  EXPECT_LE(exact - product, bound.allowed(exact, exact));
  // One product alone is no float32 product.
  EXPECT_GT(exact - high * high, 100 * bound.allowed(exact, exact));
}

/// The activations in float64, as people know them.
double activation(Activation kind, double x) {
  switch (kind) {
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kGelu:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kNone:
      break;
  }
  return x;
}

TEST(ErrorBound, TheSlopeOfAnActivationIsItsSteepest) {
  constexpr double kStep = 1e-3;
  for (const Activation kind : all_activations()) {
    double steepest = 0;
    for (double x = -20; x < 20; x += kStep)
      steepest = std::max(steepest, std::abs(activation(kind, x + kStep) - activation(kind, x)) / kStep);
    EXPECT_LE(steepest, activation_error(kind).slope + 1e-9) << to_string(kind);
    EXPECT_GT(steepest, 0.998 * activation_error(kind).slope) << to_string(kind);
  }
}

ErrorBound fused_bound(const Epilogue& epilogue) {
  Problem problem;
  problem.k = 16;
  problem.dtype = Dtype::kBf16;
  problem.output = ElementType::kFloat32;
  problem.epilogue = epilogue;
  return bound_in(problem);
}

TEST(ErrorBound, AnEpilogueAddsWhatItRounds) {
  const ErrorBound plain = fused_bound({});
  EXPECT_EQ(fused_bound({false, Activation::kRelu}).per_scale, plain.per_scale);
  EXPECT_EQ(fused_bound({false, Activation::kRelu}).per_result, 0);
  EXPECT_DOUBLE_EQ(fused_bound({true, Activation::kNone}).per_scale, plain.per_scale / (4 + 4) * (4 + 5));
  EXPECT_GT(fused_bound({false, Activation::kSilu}).per_result, 0);
}

TEST(ErrorBound, ANarrowArgumentMayBeRoundedBefore) {
  Problem problem;
  problem.k = 4096;
  EXPECT_EQ(argument_rounding(problem), 0);
  problem.dtype = Dtype::kBf16;
  // A unit of the argument in the last place of D's type, whatever K is.
  for (problem.k = 16; problem.k <= 65536; problem.k *= 16)
    EXPECT_DOUBLE_EQ(argument_rounding(problem) * bound_of(Dtype::kBf16, problem.k).per_scale, 0x1p-8 * (1 + 0x1p-8));
  problem.output = ElementType::kFloat32;
  EXPECT_EQ(argument_rounding(problem), 0);
}

TEST(ErrorBound, TheOtherGeluIsFound) {
  // The two differ by 4.7e-4 at most; sums of 16 normal products have S of about 10.
  double found = 0;
  for (double x = -6; x < 6; x += 0.01) {
    const double tanh_gelu = activation(Activation::kGelu, x), erf_gelu = x / 2 * std::erfc(-x / std::sqrt(2.0));
    const double allowed = fused_bound({false, Activation::kGelu}).allowed(tanh_gelu, 10);
    found = std::max(found, std::abs(tanh_gelu - erf_gelu) / allowed);
  }
  EXPECT_GT(found, 4);
}

}  // namespace
}  // namespace pgtune::gpu
