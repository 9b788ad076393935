// SPDX-License-Identifier: MIT
// Vectors of 1 to 16 bytes of an operand, between memory and float registers. Wants the macros VEC_BYTES,
// ELEM_BYTES and DTYPE.
#pragma once

#include "device/copy/element_format.cuh"

namespace pgtune {

using StreamedVector = RawVector<VEC_BYTES>;

#define PGTUNE_LOAD(QUALIFIER)                                                                                        \
  if constexpr (VEC_BYTES == 16) {                                                                                    \
    asm volatile("ld.global" QUALIFIER ".v4.b32 {%0, %1, %2, %3}, [%4];"                                              \
                 : "=r"(to.words[0]), "=r"(to.words[1]), "=r"(to.words[2]), "=r"(to.words[3])                         \
                 : "l"(from));                                                                                        \
  } else if constexpr (VEC_BYTES == 8) {                                                                              \
    asm volatile("ld.global" QUALIFIER ".v2.b32 {%0, %1}, [%2];" : "=r"(to.words[0]), "=r"(to.words[1]) : "l"(from)); \
  } else if constexpr (VEC_BYTES == 4) {                                                                              \
    asm volatile("ld.global" QUALIFIER ".b32 %0, [%1];" : "=r"(to.words[0]) : "l"(from));                             \
  } else if constexpr (VEC_BYTES == 2) {                                                                              \
    asm volatile("ld.global" QUALIFIER ".b16 %0, [%1];" : "=h"(to.halves[0]) : "l"(from));                            \
  } else {                                                                                                            \
    asm volatile("ld.global" QUALIFIER ".u8 %0, [%1];" : "=h"(to.halves[0]) : "l"(from));                             \
  }

/// Loads a vector that is read once: L1 does not keep it. `from` is a multiple of VEC_BYTES. Volatile, so that loads
/// stay ahead of the arithmetic that hides their latency.
__device__ __forceinline__ StreamedVector load_streamed(const char* from) {
  StreamedVector to;
  PGTUNE_LOAD(".nc.L1::no_allocate")
  return to;
}

/// Loads a vector that neighbours read as well. The launch before may still write it when this kernel starts.
__device__ __forceinline__ StreamedVector load_shared_by_many(const char* from) {
  StreamedVector to;
  PGTUNE_LOAD("")
  return to;
}

#undef PGTUNE_LOAD

/// One element of a row that need not be aligned to a vector. The launch before may still write it when this kernel
/// starts.
template <Format kFormat>
__device__ __forceinline__ float load_element(const char* row, long long index) {
  if constexpr (kFormat == Format::kF32) {
    return reinterpret_cast<const float*>(row)[index];
  } else if constexpr (kFormat == Format::kBf16) {
    return widen<Type16::kBf16>(reinterpret_cast<const unsigned short*>(row)[index]);
  } else if constexpr (kFormat == Format::kF16) {
    return widen<Type16::kF16>(reinterpret_cast<const unsigned short*>(row)[index]);
  } else {
    float two[2];
    widen_two<kFormat>(two, reinterpret_cast<const unsigned char*>(row)[index]);
    return two[0];
  }
}

}  // namespace pgtune
