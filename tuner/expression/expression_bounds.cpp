// SPDX-License-Identifier: MIT
// Interval arithmetic over compiled expressions: whether a rule can still hold, before all parameters have values.
#include <algorithm>
#include <array>

#include "tuner/expression/bounds_arithmetic.hpp"
#include "tuner/expression/expression.hpp"
#include "tuner/expression/expression_program.hpp"

namespace pgtune::space {

std::optional<Bounds> Expression::bounds(std::span<const Bounds> values, std::span<const std::uint32_t> slots) const {
  std::array<Bounds, ExpressionProgram::kMaxStack> stack;  // left uninitialised: the parser bounded its use
  std::size_t size = 0;
  const std::vector<Instruction>& code = program_->code;
  for (std::size_t at = 0; at < code.size();) {
    const Instruction& instruction = code[at++];
    if (instruction.op == Op::kConstant) {
      stack[size++] = {instruction.operand, instruction.operand};
      continue;
    }
    if (instruction.op == Op::kName) {
      stack[size++] = values[slots[static_cast<std::size_t>(instruction.operand)]];
      continue;
    }
    if (is_jump(instruction.op)) {
      bool jumps = instruction.op == Op::kJump;
      if (!jumps) {
        const Bounds zero = equal_bounds(stack[size - 1], {0, 0});
        if (!zero.exact()) return std::nullopt;
        jumps = (zero.low != 0) != (instruction.op == Op::kOrJump);
        if (instruction.op == Op::kBranch || !jumps) {
          --size;
        } else {
          stack[size - 1] = instruction.op == Op::kOrJump ? Bounds{1, 1} : Bounds{0, 0};
        }
      }
      if (jumps) at = static_cast<std::size_t>(instruction.operand);
      continue;
    }
    const bool two = instruction.op >= Op::kMultiply;
    if (two) --size;
    const auto result = two ? binary_bounds(instruction.op, stack[size - 1], stack[size])
                            : unary_bounds(instruction.op, stack[size - 1]);
    if (!result) return std::nullopt;
    stack[size - 1] = *result;
  }
  return stack[0];
}

bool Expression::has_bounds() const {
  return std::all_of(program_->code.begin(), program_->code.end(),
                     [](const Instruction& instruction) { return space::has_bounds(instruction.op); });
}

}  // namespace pgtune::space
