// SPDX-License-Identifier: MIT
// Elements of C and D: float, or 16 bits of bf16 or f16, rounded to nearest. Without the toolkit's headers, which take
// longer to compile than a kernel.
#pragma once

namespace pgtune {

enum class Sixteen { kBf16, kF16 };

/// What an element of so many bytes is kept in.
template <int kBytes>
struct OutElement {
  using Type = unsigned short;
};
template <>
struct OutElement<4> {
  using Type = float;
};

/// Two neighbours in memory, the first in the lower half.
template <Sixteen kType>
__device__ __forceinline__ unsigned pack(float first, float second) {
  unsigned both;
  if constexpr (kType == Sixteen::kBf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  }
  return both;
}

template <Sixteen kType>
__device__ __forceinline__ float widen(unsigned short bits) {
  if constexpr (kType == Sixteen::kBf16) return __uint_as_float(static_cast<unsigned>(bits) << 16);
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
  return wide;
}

}  // namespace pgtune
