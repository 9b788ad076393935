// SPDX-License-Identifier: MIT
// Which element of a result a packed number means. Pure arithmetic.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/gpu/measure/check/error_bound.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

struct ResultElement {
  std::string place;  ///< for messages: "element (3,5) of batch 0", "element (3,5) of Y"
  Operand operand = Operand::kD;
  std::uint64_t offset_bytes = 0;  ///< in its buffer
  ElementType type = ElementType::kFloat32;
  ErrorBound bound;
};

/// `index`: among the elements of D, row by row, or of an operation's outputs, one behind the other.
[[nodiscard]] ResultElement result_element(const Problem& problem, std::uint64_t index);

/// How many there are.
[[nodiscard]] std::int64_t result_elements(const Problem& problem);

}  // namespace pgtune::gpu
