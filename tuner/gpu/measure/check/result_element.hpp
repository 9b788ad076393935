// SPDX-License-Identifier: MIT
// Which element of a result a packed number means. Pure arithmetic.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/gpu/measure/check/error_bound.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/model/operation_problem.hpp"

namespace pgtune::gpu {

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
