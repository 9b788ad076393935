// SPDX-License-Identifier: MIT
// mma.sync (sm_80 and newer): a warp multiplies a 16 x 8 tile over 32 bytes of k. The shapes are m16n8k32 for 8-bit
// elements (8-bit floats need sm_89), m16n8k16 for 16-bit elements and m16n8k8 for tf32.
//
// Lane l holds, with g = l / 4, c = l % 4, and "word" for four bytes of k:
//   a             words c of rows g and g + 8; then words c + 4 of the same rows
//   b             words c and c + 4 of column g
//   accumulators  columns 2c and 2c + 1 of row g, then of row g + 8
#pragma once

#include "device/ptx/accumulator.cuh"
#include "device/ptx/text.cuh"

// A template that includes this hands on DTYPE and says with WIDENS that 8-bit floats are multiplied as float16: on
// sm_90 to sm_110 mma.sync has no native 8-bit floats. The assembler would make two float16 products of each, but it
// widens the operands so early that registers spill; so the caller widens them.
#if DTYPE == LABEL_bf16
#define PGTUNE_MMA "m16n8k16.row.col.f32.bf16.bf16.f32"
#elif DTYPE == LABEL_f16 || WIDENS
#define PGTUNE_MMA "m16n8k16.row.col.f32.f16.f16.f32"
#elif DTYPE == LABEL_e4m3
#define PGTUNE_MMA "m16n8k32.row.col.f32.e4m3.e4m3.f32"
#elif DTYPE == LABEL_e5m2
#define PGTUNE_MMA "m16n8k32.row.col.f32.e5m2.e4m3.f32"
#elif DTYPE == LABEL_int8
#define PGTUNE_MMA "m16n8k32.row.col.s32.s8.s8.s32"
#else
#define PGTUNE_MMA "m16n8k8.row.col.f32.tf32.tf32.f32"
#endif

namespace pgtune {

/// accumulators += a * b. The asm is volatile because the compiler, free to move products, used so many registers that
/// some spilled.
__device__ __forceinline__ void mma_sync(Accumulator (&acc)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned." PGTUNE_MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+" PGTUNE_ACCUMULATOR(acc[0]), "+" PGTUNE_ACCUMULATOR(acc[1]), "+" PGTUNE_ACCUMULATOR(acc[2]),
                 "+" PGTUNE_ACCUMULATOR(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// accumulators = a * b.
__device__ __forceinline__ void mma_sync_from_zero(Accumulator (&acc)[4], const unsigned (&a)[4],
                                                   const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned." PGTUNE_MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
               : "=" PGTUNE_ACCUMULATOR(acc[0]), "=" PGTUNE_ACCUMULATOR(acc[1]), "=" PGTUNE_ACCUMULATOR(acc[2]),
                 "=" PGTUNE_ACCUMULATOR(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), PGTUNE_ACCUMULATOR(Accumulator{}));
}

/// Converts four 8-bit floats to two words of float16, which is exact.
template <bool kE5m2>
__device__ __forceinline__ void widen(unsigned four, unsigned& first, unsigned& second) {
  const auto two = [](unsigned bits) {
    unsigned wide;
    if constexpr (kE5m2) {
      asm volatile("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(wide) : "h"(static_cast<unsigned short>(bits)));
    } else {
      asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(wide) : "h"(static_cast<unsigned short>(bits)));
    }
    return wide;
  };
  first = two(four);
  second = two(four >> 16);
}

}  // namespace pgtune

#undef PGTUNE_MMA
#undef PGTUNE_ACCUMULATOR
