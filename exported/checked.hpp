// SPDX-License-Identifier: MIT
// Checked 64-bit arithmetic of the generated expressions. `x` becomes true where the expression has no value; what is
// computed after that is not used.
#pragma once

#include <cstdint>

namespace pgtune_export::detail {

using Int = std::int64_t;
constexpr Int kLowestInt = -0x7fffffffffffffff - 1;

inline bool yes(Int a) noexcept { return a != 0; }
inline Int truth(bool a) noexcept { return a ? 1 : 0; }
inline Int inverse(Int a) noexcept { return truth(a == 0); }
inline Int less(Int a, Int b) noexcept { return truth(a < b); }
inline Int less_equal(Int a, Int b) noexcept { return truth(a <= b); }
inline Int greater(Int a, Int b) noexcept { return truth(a > b); }
inline Int greater_equal(Int a, Int b) noexcept { return truth(a >= b); }
inline Int equal(Int a, Int b) noexcept { return truth(a == b); }
inline Int not_equal(Int a, Int b) noexcept { return truth(a != b); }
inline Int smaller(Int a, Int b) noexcept { return b < a ? b : a; }
inline Int larger(Int a, Int b) noexcept { return a < b ? b : a; }
inline Int power_of_two(Int a) noexcept { return truth(a > 0 && (a & (a - 1)) == 0); }

inline Int fault(bool& x) noexcept {
  x = true;
  return 0;
}
inline Int sum(bool& x, Int a, Int b) noexcept {
  Int out = 0;
  return __builtin_add_overflow(a, b, &out) ? fault(x) : out;
}
inline Int difference(bool& x, Int a, Int b) noexcept {
  Int out = 0;
  return __builtin_sub_overflow(a, b, &out) ? fault(x) : out;
}
inline Int product(bool& x, Int a, Int b) noexcept {
  Int out = 0;
  return __builtin_mul_overflow(a, b, &out) ? fault(x) : out;
}
inline Int negative(bool& x, Int a) noexcept { return difference(x, 0, a); }
inline Int magnitude(bool& x, Int a) noexcept { return a < 0 ? negative(x, a) : a; }
inline Int quotient(bool& x, Int a, Int b) noexcept {
  return b == 0 || (a == kLowestInt && b == -1) ? fault(x) : a / b;
}
inline Int remainder(bool& x, Int a, Int b) noexcept { return b == 0 ? fault(x) : b == -1 ? 0 : a % b; }
inline Int ceil_div(bool& x, Int a, Int b) noexcept {
  if (b == 0 || (a == kLowestInt && b == -1)) return fault(x);
  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}
inline Int round_up(bool& x, Int a, Int multiple) noexcept {
  return multiple <= 0 ? fault(x) : product(x, ceil_div(x, a, multiple), multiple);
}
inline Int common_divisor(bool& x, Int a, Int b) noexcept {
  std::uint64_t u = a < 0 ? 0 - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
  std::uint64_t v = b < 0 ? 0 - static_cast<std::uint64_t>(b) : static_cast<std::uint64_t>(b);
  while (v != 0) {
    const std::uint64_t rest = u % v;
    u = v;
    v = rest;
  }
  return u > 0x7fffffffffffffffU ? fault(x) : static_cast<Int>(u);
}
inline Int shift_left(bool& x, Int a, Int b) noexcept {
  if (b < 0 || b > 63) return fault(x);
  const Int out = static_cast<Int>(static_cast<std::uint64_t>(a) << b);
  return (out >> b) != a ? fault(x) : out;
}
inline Int shift_right(bool& x, Int a, Int b) noexcept { return b < 0 || b > 63 ? fault(x) : a >> b; }

}  // namespace pgtune_export::detail
