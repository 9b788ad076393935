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

using preload::Arithmetic;

Dtype dtype_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kTf32:
      return Dtype::kTf32;
    case Arithmetic::kTf32x3:
      return Dtype::kTf32x3;
    case Arithmetic::kF16:
      return Dtype::kF16;
    case Arithmetic::kBf16:
      return Dtype::kBf16;
    case Arithmetic::kE4m3:
      return Dtype::kE4m3;
    case Arithmetic::kE5m2:
      return Dtype::kE5m2;
    case Arithmetic::kInt8:
      return Dtype::kInt8;
    case Arithmetic::kF32:
    case Arithmetic::kOther:
      break;
  }
  return Dtype::kF32;
}

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
  switch (type) {
    case preload::kR32F:
      return "f32";
    case preload::kR64F:
      return "f64";
    case preload::kR16F:
      return "f16";
    case preload::kR16BF:
      return "bf16";
    case preload::kC32F:
      return "complex64";
    case preload::kC64F:
      return "complex128";
    case preload::kR8I:
      return "int8";
    case preload::kR32I:
      return "int32";
    case preload::kE4M3:
      return "e4m3";
    case preload::kE5M2:
      return "e5m2";
    default:
      return fmt::format("cudaDataType {}", type);
  }
}

}  // namespace

Result<Problem> problem_of(const preload::Key& key, bool tf32) {
  if (const auto refusal = refusal_of(key, tf32); refusal != preload::Refusal::kNone)
    return fail(ErrorKind::kUsage, preload::kRefusalTexts[static_cast<std::size_t>(refusal)]);
  Problem problem;
  problem.m = key.m, problem.n = key.n, problem.k = key.k, problem.batch = key.batch;
  problem.dtype = dtype_of(arithmetic_of(key, tf32));
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
  constexpr std::pair<Dtype, PgtuneArithmetic> kAll[] = {{Dtype::kF32, kPgtuneF32},       {Dtype::kTf32, kPgtuneTf32},
                                                         {Dtype::kTf32x3, kPgtuneTf32x3}, {Dtype::kF16, kPgtuneF16},
                                                         {Dtype::kBf16, kPgtuneBf16},     {Dtype::kE4m3, kPgtuneE4m3},
                                                         {Dtype::kE5m2, kPgtuneE5m2},     {Dtype::kInt8, kPgtuneInt8}};
  const auto* const same =
      std::find_if(std::begin(kAll), std::end(kAll), [&](const auto& pair) { return pair.first == problem.dtype; });
  if (same == std::end(kAll) || problem.epilogue.activation == Activation::kSilu) return std::nullopt;
  PgtuneProblem out;
  std::memset(&out, 0, sizeof out);
  out.m = problem.m, out.n = problem.n, out.k = problem.k, out.batch = problem.batch;
  out.lda = problem.lda, out.ldb = problem.ldb, out.ldc = problem.ldc;
  out.arithmetic = same->second;
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
