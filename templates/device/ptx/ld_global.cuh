// SPDX-License-Identifier: MIT
// Global loads of 1, 2 or 4 floats with a PTX cache operator.
#pragma once

namespace pgtune {

enum class LoadCache { kAllLevels, kL2Only, kStreaming, kLastUse, kReadOnly };

#define PGTUNE_LOAD(QUALIFIER)                                                                              \
  if constexpr (kWidth == 4) {                                                                              \
    asm volatile("ld.global" QUALIFIER ".v4.f32 {%0, %1, %2, %3}, [%4];"                                    \
                 : "=f"(out[0]), "=f"(out[1]), "=f"(out[2]), "=f"(out[3])                                   \
                 : "l"(from));                                                                              \
  } else if constexpr (kWidth == 2) {                                                                       \
    asm volatile("ld.global" QUALIFIER ".v2.f32 {%0, %1}, [%2];" : "=f"(out[0]), "=f"(out[1]) : "l"(from)); \
  } else {                                                                                                  \
    asm volatile("ld.global" QUALIFIER ".f32 %0, [%1];" : "=f"(out[0]) : "l"(from));                        \
  }

/// Loads kWidth floats; `from` is aligned to their size. Volatile, so that the load stays ahead of the arithmetic that
/// hides its latency.
template <int kWidth, LoadCache kCache>
__device__ __forceinline__ void load_global(float* out, const float* from) {
  static_assert(kWidth == 1 || kWidth == 2 || kWidth == 4, "a global load moves 1, 2 or 4 floats");
  if constexpr (kCache == LoadCache::kAllLevels) {
    PGTUNE_LOAD(".ca")
  } else if constexpr (kCache == LoadCache::kL2Only) {
    PGTUNE_LOAD(".cg")
  } else if constexpr (kCache == LoadCache::kStreaming) {
    PGTUNE_LOAD(".cs")
  } else if constexpr (kCache == LoadCache::kLastUse) {
    PGTUNE_LOAD(".lu")
  } else {
    PGTUNE_LOAD(".nc")
  }
}

#undef PGTUNE_LOAD

}  // namespace pgtune
