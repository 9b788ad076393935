// SPDX-License-Identifier: MIT
// Checked 64-bit arithmetic of expressions: every operator and function, with what can go wrong as data.
#pragma once

#include <cstdint>
#include <string_view>

#include "tuner/expression/expression_program.hpp"

namespace pgtune::space {

enum class Fault { kNone, kDivisionByZero, kOverflow, kShiftRange, kNotPositiveMultiple };

/// For messages, e.g. "division by zero".
[[nodiscard]] std::string_view describe(Fault fault);

/// `op` is kToBool to kIsPow2. `out` is written unless there is a fault.
[[nodiscard]] Fault apply_unary(Op op, std::int64_t a, std::int64_t& out);
/// `op` is kMultiply to kMax. Division truncates towards zero as in C; ceil_div rounds towards plus infinity.
[[nodiscard]] Fault apply_binary(Op op, std::int64_t a, std::int64_t b, std::int64_t& out);

}  // namespace pgtune::space
