// SPDX-License-Identifier: MIT
// Problems as workers are given them.
#pragma once

#include <memory>
#include <string>

#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/operation/gemm_operation.hpp"

namespace pgtune::gpu {

inline Problem as_sent(const Problem& problem) { return operation::with_operation(problem).value(); }

inline OperationProblem numbers_of(const Problem& problem) { return *as_sent(problem).operation; }

inline std::unique_ptr<OperationKernels> operation_kernels(const Driver& driver, const HelperKernels& kernels,
                                                           const Problem& problem, const std::string& architecture) {
  return OperationKernels::create(driver, kernels, as_sent(problem).operation, architecture).value();
}

}  // namespace pgtune::gpu
