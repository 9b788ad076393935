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

}  // namespace pgtune::operation
