// SPDX-License-Identifier: MIT
// What a check found, and the sentence that says so. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/model/operation_problem.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

struct ChangedGuard {
  std::string place;  ///< "after D", "before the workspace"
  bool around_result = false;
  std::uint64_t bytes = 0;
};

struct CheckFindings {
  Comparison comparison;
  bool first_unwritten = false;               ///< the element at comparison.first_wrong holds its poison
  double first_value = 0;                     ///< at comparison.first_wrong; meaningless where nothing is wrong
  double first_expected = 0;                  ///< the reference there, or the residual
  double first_ratio = 0;                     ///< its error as a multiple of its bound
  std::vector<ChangedGuard> guards;           ///< only changed ones
  std::vector<std::string> changed_operands;  ///< "A", "B", "C"
};

/// Errors of the check as numbers: relative to each element's bound, and in the Frobenius norm.
[[nodiscard]] CheckReport check_report(const CheckFindings& findings);
/// One line that names everything wrong; empty when the result is right and nothing else was touched.
[[nodiscard]] std::string fault_text(const CheckFindings& findings, const OperationProblem& operation);

}  // namespace pgtune::gpu
