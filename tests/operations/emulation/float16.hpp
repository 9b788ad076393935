// SPDX-License-Identifier: MIT
// Float16 by the host's arithmetic.
#pragma once

inline float half_to_float(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
  const float value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                    : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (bits >> 15 & 1) != 0 ? -value : value;
}

/// To nearest even. Numbers that float16 has room for.
inline unsigned float_to_half(float value) {
  const unsigned sign = __float_as_uint(value) >> 16 & 0x8000;
  const float size = std::fabs(value);
  int exponent = 0;
  std::frexp(size, &exponent);
  const int unit = size == 0 ? -24 : std::max(exponent - 11, -24);  // of the last place
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, -unit)));
  // Units beyond 2^10 carry into the exponent, as they must.
  return sign | ((static_cast<unsigned>(unit + 24) << 10) + units);
}
