// SPDX-License-Identifier: MIT
// Interval arithmetic over compiled expressions: whether a rule can still hold, before all parameters have values.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "tuner/expression/arithmetic.hpp"
#include "tuner/expression/expression.hpp"
#include "tuner/expression/expression_program.hpp"

namespace pgtune::space {
namespace {

constexpr Bounds kEither{0, 1};
constexpr Bounds kTrue{1, 1}, kFalse{0, 0};

/// The bounds of an operation that is monotone in both operands, from its results at their ends.
std::optional<Bounds> of_corners(Op op, const Bounds& a, const Bounds& b) {
  std::optional<Bounds> out;
  for (const std::int64_t x : {a.low, a.high}) {
    for (const std::int64_t y : {b.low, b.high}) {
      std::int64_t value = 0;
      if (apply_binary(op, x, y, value) != Fault::kNone) return std::nullopt;
      out = out ? Bounds{std::min(out->low, value), std::max(out->high, value)} : Bounds{value, value};
    }
  }
  return out;
}

Bounds less(const Bounds& a, const Bounds& b) { return a.high < b.low ? kTrue : a.low >= b.high ? kFalse : kEither; }
Bounds inverse(const Bounds& a) { return {1 - a.high, 1 - a.low}; }
Bounds equal(const Bounds& a, const Bounds& b) {
  if (a.exact() && a == b) return kTrue;
  return a.high < b.low || b.high < a.low ? kFalse : kEither;
}

std::optional<Bounds> binary(Op op, const Bounds& a, const Bounds& b) {
  switch (op) {
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kMin:
    case Op::kMax:
      return of_corners(op, a, b);
    case Op::kLess:
      return less(a, b);
    case Op::kGreater:
      return less(b, a);
    case Op::kLessEqual:
      return inverse(less(b, a));
    case Op::kGreaterEqual:
      return inverse(less(a, b));
    case Op::kEqual:
      return equal(a, b);
    case Op::kNotEqual:
      return inverse(equal(a, b));
    default:
      return a.exact() && b.exact() ? of_corners(op, a, b) : std::nullopt;
  }
}

std::optional<Bounds> unary(Op op, const Bounds& a) {
  const Bounds not_zero = inverse(equal(a, kFalse));
  switch (op) {
    case Op::kToBool:
      return not_zero;
    case Op::kNot:
      return inverse(not_zero);
    default: {
      std::int64_t value = 0;
      if (!a.exact() || apply_unary(op, a.low, value) != Fault::kNone) return std::nullopt;
      return Bounds{value, value};
    }
  }
}

bool is_jump(Op op) { return op >= Op::kJump && op <= Op::kOrJump; }

}  // namespace

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
        const Bounds zero = equal(stack[size - 1], kFalse);
        if (!zero.exact()) return std::nullopt;
        jumps = (zero == kTrue) != (instruction.op == Op::kOrJump);
        if (instruction.op == Op::kBranch || !jumps) {
          --size;
        } else {
          stack[size - 1] = instruction.op == Op::kOrJump ? kTrue : kFalse;
        }
      }
      if (jumps) at = static_cast<std::size_t>(instruction.operand);
      continue;
    }
    const bool two = instruction.op >= Op::kMultiply;
    if (two) --size;
    const auto result =
        two ? binary(instruction.op, stack[size - 1], stack[size]) : unary(instruction.op, stack[size - 1]);
    if (!result) return std::nullopt;
    stack[size - 1] = *result;
  }
  return stack[0];
}

bool Expression::has_bounds() const {
  return std::all_of(program_->code.begin(), program_->code.end(), [](const Instruction& instruction) {
    switch (instruction.op) {
      case Op::kConstant:
      case Op::kName:
      case Op::kToBool:
      case Op::kNot:
      case Op::kMultiply:
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kGreater:
      case Op::kGreaterEqual:
      case Op::kEqual:
      case Op::kNotEqual:
      case Op::kMin:
      case Op::kMax:
        return true;
      default:
        return false;
    }
  });
}

}  // namespace pgtune::space
