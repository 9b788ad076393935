// SPDX-License-Identifier: MIT
// GEMM as an operation (operations/gemm.json): its short form in plain numbers.
#pragma once

#include "tuner/model/problem.hpp"
#include "tuner/operation/operation_definition.hpp"

namespace pgtune::operation {

/// The built-in definition. Errors (internal): it is invalid.
[[nodiscard]] const Result<OperationDefinition>& gemm_definition();

/// The problem with Problem::operation, as workers receive it: made from the other members for a GEMM, unchanged for
/// another operation. Errors (usage): numbers that overflow.
[[nodiscard]] Result<Problem> with_operation(Problem problem);

/// The library that computes the whole problem as one matrix product in its dtype and is its only baseline; null if the
/// problem's operation declares none.
[[nodiscard]] const GemmBaseline* gemm_baseline(const Problem& problem);

}  // namespace pgtune::operation
