// SPDX-License-Identifier: MIT
// In place of the header of this name, whose conversions are PTX.
#pragma once

#include "float16.hpp"

namespace pgtune {

enum class Type16 { kBf16, kF16 };

template <int kBytes, class Number = float>
struct OutElement {
  static_assert(kBytes == 2, "no template that is run here stores others by this");
  using Type = unsigned short;
};

template <Type16 kType>
inline unsigned pack(float first, float second) {
  const auto rounded = [](float value) {
    if (kType == Type16::kF16) return float_to_half(value);
    const unsigned bits = __float_as_uint(value);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  };
  return rounded(second) << 16 | rounded(first);
}

template <Type16 kType>
inline float widen(unsigned short bits) {
  return kType == Type16::kF16 ? half_to_float(bits) : __uint_as_float(static_cast<unsigned>(bits) << 16);
}

}  // namespace pgtune
