// SPDX-License-Identifier: MIT
// Products of a warp's 16 x 8 tile over 32 bytes of k (mma.sync, sm_80 and newer): m16n8k16 of 16-bit elements,
// m16n8k8 of tf32.
//
// Lane l holds, g = l / 4 and c = l % 4, with "word" for the four bytes that two 16-bit elements or one float take:
//   a    words c of k and rows g, g + 8; then words c + 4 of the same rows
//   b    words c and c + 4 of k, column g
//   sums columns 2c and 2c + 1 of row g, then of row g + 8
#pragma once

#include "device/text.cuh"

// A template that includes this hands on MATH_MODE.
#if MATH_MODE == LABEL_bf16
#define PGTUNE_MMA "m16n8k16.row.col.f32.bf16.bf16.f32"
#elif MATH_MODE == LABEL_f16
#define PGTUNE_MMA "m16n8k16.row.col.f32.f16.f16.f32"
#else
#define PGTUNE_MMA "m16n8k8.row.col.f32.tf32.tf32.f32"
#endif

namespace pgtune {

/// sums += a * b. Volatile: moved about freely, products took so many registers that some were spilled.
__device__ __forceinline__ void add_product(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned." PGTUNE_MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// sums = a * b.
__device__ __forceinline__ void set_product(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned." PGTUNE_MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
               : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

}  // namespace pgtune

#undef PGTUNE_MMA
