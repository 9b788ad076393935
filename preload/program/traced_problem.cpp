// SPDX-License-Identifier: MIT
#include "preload/program/traced_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "preload/shim/refusal.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"

namespace pgtune::tool {
namespace {

/// In the order of preload::Arithmetic and of PgtuneArithmetic.
constexpr Dtype kDtypes[] = {Dtype::kF32,  Dtype::kTf32, Dtype::kF16,  Dtype::kBf16,
                             Dtype::kE4m3, Dtype::kE5m2, Dtype::kInt8, Dtype::kTf32x3};
static_assert(std::size(kDtypes) == static_cast<std::size_t>(preload::Arithmetic::kOther));

ElementType output_of(int type) {
  switch (type) {
    case preload::kR16F:
      return ElementType::kFloat16;
    case preload::kR16BF:
      return ElementType::kBfloat16;
    case preload::kR32I:
      return ElementType::kInt32;
    default:
      return ElementType::kFloat32;
  }
}

std::string type_text(int type) {
  constexpr std::pair<int, const char*> kNames[] = {
      {preload::kR32F, "f32"},       {preload::kR64F, "f64"},        {preload::kR16F, "f16"}, {preload::kR16BF, "bf16"},
      {preload::kC32F, "complex64"}, {preload::kC64F, "complex128"}, {preload::kR8I, "int8"}, {preload::kR32I, "int32"},
      {preload::kE4M3, "e4m3"},      {preload::kE5M2, "e5m2"}};
  for (const auto& [known, name] : kNames) {
    if (known == type) return name;
  }
  return fmt::format("cudaDataType {}", type);
}

}  // namespace

Result<Problem> problem_of(const preload::Key& key, bool tf32) {
  if (const auto refusal = refusal_of(key, tf32); refusal != preload::Refusal::kNone)
    return fail(ErrorKind::kUsage, preload::kRefusalTexts[static_cast<std::size_t>(refusal)]);
  Problem problem;
  problem.m = key.m, problem.n = key.n, problem.k = key.k, problem.batch = key.batch;
  problem.dtype = kDtypes[static_cast<std::size_t>(arithmetic_of(key, tf32))];
  problem.output = output_of(key.type_d);
  problem.trans_a = key.trans_a != 0, problem.trans_b = key.trans_b != 0;
  problem.lda = key.lda, problem.ldb = key.ldb, problem.ldc = key.ldc;
  problem.beta = key.beta;
  problem.epilogue.bias = (key.epilogue & preload::kLtBias) != 0;
  if ((key.epilogue & preload::kLtRelu) != 0) problem.epilogue.activation = Activation::kRelu;
  if ((key.epilogue & preload::kLtGelu) != 0) problem.epilogue.activation = Activation::kGelu;
  return with_default_strides(problem);
}

std::optional<PgtuneProblem> kernel_problem_of(const Problem& problem) {
  const auto* const same = std::find(std::begin(kDtypes), std::end(kDtypes), problem.dtype);
  if (same == std::end(kDtypes) || problem.epilogue.activation == Activation::kSilu) return std::nullopt;
  PgtuneProblem out;
  std::memset(&out, 0, sizeof out);
  out.m = problem.m, out.n = problem.n, out.k = problem.k, out.batch = problem.batch;
  out.lda = problem.lda, out.ldb = problem.ldb, out.ldc = problem.ldc;
  out.arithmetic = static_cast<std::int32_t>(same - std::begin(kDtypes));
  out.layout = (problem.trans_a ? 2 : 0) + (problem.trans_b ? 1 : 0);
  out.float32_out = problem.has_usual_output() ? 0 : 1;
  out.bias = problem.epilogue.bias ? 1 : 0;
  out.activation = static_cast<std::int32_t>(problem.epilogue.activation);
  out.adds_c = problem.beta != 0 ? 1 : 0;
  return out;
}

std::string title_of(const preload::Key& key, bool tf32) {
  if (const auto problem = problem_of(key, tf32)) return listed(*problem).line;
  std::string text = fmt::format("{}x{}x{} {}", key.m, key.n, key.k, type_text(key.type_a));
  if (key.type_b != key.type_a) text += " by " + type_text(key.type_b);
  if (key.type_d != key.type_a) text += " out " + type_text(key.type_d);
  if (key.batch != 1) text += fmt::format(" batch {}", key.batch);
  if (key.beta != 0) text += fmt::format(" beta {}", key.beta);
  return text;
}

}  // namespace pgtune::tool
