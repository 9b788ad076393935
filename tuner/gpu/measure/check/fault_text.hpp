// SPDX-License-Identifier: MIT
// The findings of a check, the position of an element, and the sentence for both. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"
#include "tuner/model/launch_plan.hpp"
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
  double first_value = 0;                     ///< at comparison.first_wrong; meaningless if nothing is wrong
  double first_expected = 0;                  ///< the reference there, or the residual
  double first_ratio = 0;                     ///< its error as a multiple of its bound
  std::vector<ChangedGuard> guards;           ///< only changed ones
  std::vector<std::string> changed_operands;  ///< "A", "B", "C"
};

/// Errors of the check as numbers: relative to each element's bound, and in the Frobenius norm.
[[nodiscard]] CheckReport check_report(const CheckFindings& findings);
/// One line that names all faults; empty if the result is right and nothing else was written.
[[nodiscard]] std::string fault_text(const CheckFindings& findings, const OperationProblem& operation);

struct ResultElement {
  std::string place;  ///< for messages: "element (3,5) of batch 0", "element (3,5) of Y"
  Operand operand = Operand::kD;
  std::uint64_t offset_bytes = 0;  ///< in its buffer
  ElementType type = ElementType::kFloat32;
  ErrorBound bound;
};

/// `index`: among the elements of the outputs, one behind the other, each in the order of its indices.
[[nodiscard]] ResultElement result_element(const OperationProblem& operation, std::uint64_t index);

/// How many there are.
[[nodiscard]] std::int64_t result_elements(const OperationProblem& operation);

}  // namespace pgtune::gpu
