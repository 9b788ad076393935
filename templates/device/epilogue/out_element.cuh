// SPDX-License-Identifier: MIT
// Elements of C and D: float or int, as accumulators are, or 16 bits of bf16 or f16, rounded to nearest. The toolkit's
// headers for these types are left out because they take longer to compile than a kernel.
#pragma once

namespace pgtune {

enum class Type16 { kBf16, kF16 };

/// The type that holds an element of kBytes.
template <int kBytes, class Accumulator = float>
struct OutElement {
  using Type = unsigned short;
};
template <class Accumulator>
struct OutElement<4, Accumulator> {
  using Type = Accumulator;
};

/// Returns a * b + c.
__device__ __forceinline__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ int multiply_add(int a, int b, int c) { return a * b + c; }

/// Packs two neighbours in memory, the first in the lower half.
template <Type16 kType>
__device__ __forceinline__ unsigned pack(float first, float second) {
  unsigned both;
  if constexpr (kType == Type16::kBf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  }
  return both;
}

template <Type16 kType>
__device__ __forceinline__ float widen(unsigned short bits) {
  if constexpr (kType == Type16::kBf16) return __uint_as_float(static_cast<unsigned>(bits) << 16);
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
  return wide;
}

}  // namespace pgtune
