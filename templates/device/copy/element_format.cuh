// SPDX-License-Identifier: MIT
// The formats of A's and B's elements, and their values as float32. Wants the macro DTYPE.
#pragma once

#include "device/epilogue/out_element.cuh"

namespace pgtune {

enum class Format { kF32, kBf16, kF16, kE4m3, kE5m2 };

constexpr Format kFormatA = DTYPE == LABEL_bf16   ? Format::kBf16
                            : DTYPE == LABEL_f16  ? Format::kF16
                            : DTYPE == LABEL_e4m3 ? Format::kE4m3
                            : DTYPE == LABEL_e5m2 ? Format::kE5m2
                                                  : Format::kF32;
constexpr Format kFormatB = kFormatA == Format::kE5m2 ? Format::kE4m3 : kFormatA;

/// An unsigned type of an element's size.
template <int kBytes>
struct RawElement {
  using Type = unsigned;
};
template <>
struct RawElement<2> {
  using Type = unsigned short;
};
template <>
struct RawElement<1> {
  using Type = unsigned char;
};

/// Two neighbours of 8 bits, exactly: all values of either format are values of f16.
template <Format kFormat>
__device__ __forceinline__ void widen_two(float (&to)[2], unsigned short bits) {
  unsigned both;
  if constexpr (kFormat == Format::kE4m3) {
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(both) : "h"(bits));
  } else {
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(both) : "h"(bits));
  }
  to[0] = widen<Type16::kF16>(static_cast<unsigned short>(both));
  to[1] = widen<Type16::kF16>(static_cast<unsigned short>(both >> 16));
}

/// Neighbours that `words` hold as they are in memory.
template <Format kFormat, int kCount, int kWords>
__device__ __forceinline__ void widen_words(float (&to)[kCount], const unsigned (&words)[kWords]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if constexpr (kFormat == Format::kF32) {
      to[i] = __uint_as_float(words[i]);
    } else if constexpr (kFormat == Format::kBf16 || kFormat == Format::kF16) {
      constexpr Type16 kType = kFormat == Format::kBf16 ? Type16::kBf16 : Type16::kF16;
      to[i] = widen<kType>(static_cast<unsigned short>(words[i / 2] >> i % 2 * 16));
    } else if (i % 2 == 0) {
      float two[2];
      widen_two<kFormat>(two, static_cast<unsigned short>(words[i / 4] >> i % 4 * 8));
      to[i] = two[0];
      if (i + 1 < kCount) to[i + 1] = two[1];
    }
  }
}

}  // namespace pgtune
