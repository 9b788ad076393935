// SPDX-License-Identifier: MIT
#include "tuner/expression/bounds_arithmetic.hpp"

#include <algorithm>
#include <initializer_list>

#include "tuner/expression/arithmetic.hpp"

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

/// The same of a sum or difference, from two ends: no other lies further out.
std::optional<Bounds> sum(Op op, const Bounds& a, const Bounds& b) {
  Bounds out{};
  const bool overflows =
      op == Op::kAdd
          ? __builtin_add_overflow(a.low, b.low, &out.low) || __builtin_add_overflow(a.high, b.high, &out.high)
          : __builtin_sub_overflow(a.low, b.high, &out.low) || __builtin_sub_overflow(a.high, b.low, &out.high);
  if (overflows) return std::nullopt;
  return out;
}

Bounds less(const Bounds& a, const Bounds& b) { return a.high < b.low ? kTrue : a.low >= b.high ? kFalse : kEither; }
Bounds inverse(const Bounds& a) { return {1 - a.high, 1 - a.low}; }

}  // namespace

bool has_bounds(Op op) {
  switch (op) {
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
}

Bounds equal_bounds(const Bounds& a, const Bounds& b) {
  if (a.exact() && a == b) return kTrue;
  return a.high < b.low || b.high < a.low ? kFalse : kEither;
}

std::optional<Bounds> binary_bounds(Op op, const Bounds& a, const Bounds& b) {
  switch (op) {
    case Op::kAdd:
    case Op::kSubtract:
      return sum(op, a, b);
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
      return equal_bounds(a, b);
    case Op::kNotEqual:
      return inverse(equal_bounds(a, b));
    default:
      return a.exact() && b.exact() ? of_corners(op, a, b) : std::nullopt;
  }
}

std::optional<Bounds> unary_bounds(Op op, const Bounds& a) {
  const Bounds not_zero = inverse(equal_bounds(a, kFalse));
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

}  // namespace pgtune::space
