// SPDX-License-Identifier: MIT
// The formats of A's and B's elements, vectors of them, and their values as float32. Wants the macro DTYPE.
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

/// kBytes of an operand as they are in memory.
template <int kBytes>
union RawVector {
  unsigned words[kBytes < 4 ? 1 : kBytes / 4];
  unsigned short halves[kBytes < 4 ? 2 : kBytes / 2];

  __device__ RawVector() {}
  static __device__ __forceinline__ RawVector zero() {
    RawVector vector;
#pragma unroll
    for (unsigned& word : vector.words) word = 0;
    return vector;
  }
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

/// The vector's first kCount elements.
template <Format kFormat, int kCount, int kBytes>
__device__ __forceinline__ void widen_vector(float (&to)[kCount], const RawVector<kBytes>& vector) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if constexpr (kFormat == Format::kF32) {
      to[i] = __uint_as_float(vector.words[i]);
    } else if constexpr (kFormat == Format::kBf16) {
      to[i] = widen<Type16::kBf16>(vector.halves[i]);
    } else if constexpr (kFormat == Format::kF16) {
      to[i] = widen<Type16::kF16>(vector.halves[i]);
    } else if (i % 2 == 0) {
      float two[2];
      widen_two<kFormat>(two, vector.halves[i / 2]);
      to[i] = two[0];
      if (i + 1 < kCount) to[i + 1] = two[1];
    }
  }
}

}  // namespace pgtune
