// SPDX-License-Identifier: MIT
#include "tuner/expression/arithmetic.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pgtune::space {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

Fault overflow_if(bool overflowed) { return overflowed ? Fault::kOverflow : Fault::kNone; }

std::uint64_t magnitude(std::int64_t a) {
  return a < 0 ? 0 - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
}

Fault divide(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b == 0) return Fault::kDivisionByZero;
  if (a == kLowest && b == -1) return Fault::kOverflow;
  out = a / b;
  return Fault::kNone;
}

Fault modulo(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b == 0) return Fault::kDivisionByZero;
  out = b == -1 ? 0 : a % b;  // the lowest value % -1 traps on x86
  return Fault::kNone;
}

Fault ceil_div(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (const Fault fault = divide(a, b, out); fault != Fault::kNone) return fault;
  if (a % b != 0 && (a < 0) == (b < 0)) ++out;
  return Fault::kNone;
}

Fault round_up(std::int64_t a, std::int64_t multiple, std::int64_t& out) {
  if (multiple <= 0) return Fault::kNotPositiveMultiple;
  std::int64_t quotient = 0;
  if (const Fault fault = ceil_div(a, multiple, quotient); fault != Fault::kNone) return fault;
  return overflow_if(__builtin_mul_overflow(quotient, multiple, &out));
}

Fault gcd(std::int64_t a, std::int64_t b, std::int64_t& out) {
  const std::uint64_t result = std::gcd(magnitude(a), magnitude(b));
  if (result > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return Fault::kOverflow;
  out = static_cast<std::int64_t>(result);
  return Fault::kNone;
}

Fault shift_left(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b < 0 || b > 63) return Fault::kShiftRange;
  out = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
  return overflow_if((out >> b) != a);
}

Fault shift_right(std::int64_t a, std::int64_t b, std::int64_t& out) {
  if (b < 0 || b > 63) return Fault::kShiftRange;
  out = a >> b;
  return Fault::kNone;
}

}  // namespace

std::string_view describe(Fault fault) {
  switch (fault) {
    case Fault::kDivisionByZero:
      return "division by zero";
    case Fault::kOverflow:
      return "the result does not fit in 64 bits";
    case Fault::kShiftRange:
      return "the shift count is not between 0 and 63";
    case Fault::kNotPositiveMultiple:
      return "round_up needs a multiple of at least 1";
    case Fault::kNone:
      break;
  }
  return "no fault";
}

Fault apply_unary(Op op, std::int64_t a, std::int64_t& out) {
  switch (op) {
    case Op::kToBool:
      out = a != 0;
      return Fault::kNone;
    case Op::kNot:
      out = a == 0;
      return Fault::kNone;
    case Op::kNegate:
      return overflow_if(__builtin_sub_overflow(std::int64_t{0}, a, &out));
    case Op::kAbs:
      out = a;
      return a < 0 ? overflow_if(__builtin_sub_overflow(std::int64_t{0}, a, &out)) : Fault::kNone;
    default:  // kIsPow2
      out = a > 0 && (a & (a - 1)) == 0;
      return Fault::kNone;
  }
}

Fault apply_binary(Op op, std::int64_t a, std::int64_t b, std::int64_t& out) {
  switch (op) {
    case Op::kMultiply:
      return overflow_if(__builtin_mul_overflow(a, b, &out));
    case Op::kDivide:
      return divide(a, b, out);
    case Op::kModulo:
      return modulo(a, b, out);
    case Op::kAdd:
      return overflow_if(__builtin_add_overflow(a, b, &out));
    case Op::kSubtract:
      return overflow_if(__builtin_sub_overflow(a, b, &out));
    case Op::kShiftLeft:
      return shift_left(a, b, out);
    case Op::kShiftRight:
      return shift_right(a, b, out);
    case Op::kCeilDiv:
      return ceil_div(a, b, out);
    case Op::kRoundUp:
      return round_up(a, b, out);
    case Op::kGcd:
      return gcd(a, b, out);
    case Op::kLess:
      out = a < b;
      return Fault::kNone;
    case Op::kLessEqual:
      out = a <= b;
      return Fault::kNone;
    case Op::kGreater:
      out = a > b;
      return Fault::kNone;
    case Op::kGreaterEqual:
      out = a >= b;
      return Fault::kNone;
    case Op::kEqual:
      out = a == b;
      return Fault::kNone;
    case Op::kNotEqual:
      out = a != b;
      return Fault::kNone;
    case Op::kMin:
      out = std::min(a, b);
      return Fault::kNone;
    default:  // kMax
      out = std::max(a, b);
      return Fault::kNone;
  }
}

}  // namespace pgtune::space
