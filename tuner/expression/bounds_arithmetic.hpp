// SPDX-License-Identifier: MIT
// Interval arithmetic of expressions' operations. Private to tuner/expression.
#pragma once

#include <optional>

#include "tuner/expression/expression.hpp"
#include "tuner/expression/expression_program.hpp"

namespace pgtune::space {

/// Whether bounds of an operation's result follow from its operands'.
[[nodiscard]] bool has_bounds(Op op);
/// Whether both are equal: 0, 1 or, where they may be, both.
[[nodiscard]] Bounds equal_bounds(const Bounds& a, const Bounds& b);
/// Bounds of the result for operands within bounds; nothing where they cannot be told, or a result does not fit.
[[nodiscard]] std::optional<Bounds> binary_bounds(Op op, const Bounds& a, const Bounds& b);
[[nodiscard]] std::optional<Bounds> unary_bounds(Op op, const Bounds& a);

}  // namespace pgtune::space
