// SPDX-License-Identifier: MIT
// A call as kernels know it.
#pragma once

#include "preload/kernels/table.hpp"
#include "preload/shim/refusal.hpp"

namespace pgtune::preload {

static_assert(static_cast<int>(Arithmetic::kInt8) == kPgtuneInt8 &&
              static_cast<int>(Arithmetic::kTf32x3) == kPgtuneTf32x3);

/// Precondition: refusal_of() has none.
inline PgtuneProblem problem_of_key(const Key& key, Arithmetic arithmetic) {
  PgtuneProblem problem;
  std::memset(&problem, 0, sizeof problem);
  problem.m = key.m, problem.n = key.n, problem.k = key.k, problem.batch = key.batch;
  problem.lda = key.lda, problem.ldb = key.ldb, problem.ldc = key.ldc;
  problem.arithmetic = static_cast<std::int32_t>(arithmetic);
  problem.layout = key.trans_a * 2 + key.trans_b;
  problem.float32_out = key.type_d == kR32F && key.type_a != kR32F ? 1 : 0;
  problem.bias = (key.epilogue & kLtBias) != 0 ? 1 : 0;
  problem.activation = (key.epilogue & kLtRelu) != 0 ? 1 : (key.epilogue & kLtGelu) != 0 ? 2 : 0;
  problem.adds_c = key.beta != 0 ? 1 : 0;
  return problem;
}

}  // namespace pgtune::preload
