// SPDX-License-Identifier: MIT
// GEMM as an operation (operations/gemm.json): what its short form means in plain numbers.
#pragma once

#include "tuner/model/problem.hpp"
#include "tuner/operation/operation_definition.hpp"

namespace pgtune::operation {

/// The definition that ships. Errors (internal): it is none.
[[nodiscard]] const Result<OperationDefinition>& gemm_definition();

/// The problem with Problem::operation, as workers are given it: of a GEMM made from its other members, of another
/// operation as it is. Errors (usage): numbers that overflow.
[[nodiscard]] Result<Problem> with_operation(Problem problem);

/// The library that computes all of the problem as one product of matrices in its dtype, and with which alone it is
/// compared; null where the problem's operation declares none.
[[nodiscard]] const GemmBaseline* gemm_baseline(const Problem& problem);

}  // namespace pgtune::operation
