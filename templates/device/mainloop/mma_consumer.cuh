// SPDX-License-Identifier: MIT
// The consumer of gemm_mma: a warp multiplies its fragments, 32 bytes of k at a time, and accumulates the products.
//
// In tf32x3 each operand is split into a high and a low part of 11 bits, and three products are added, the small ones
// first. Tensor cores truncate what they accumulate instead of rounding it, so they accumulate PROMOTION_INTERVAL steps
// of 8 along K, at most a k-block, and the results are added in float32.
//
// 8-bit floats are never promoted. Widened to float16 they accumulate as well as float16. Tensor cores that multiply
// them natively may keep about 14 bits of what they add, as Hopper's wgmma does; the error of such accumulators hardly
// depends on K, and the error bound allows it.
#pragma once

#include "device/mainloop/mma_stage.cuh"
#include "device/ptx/mma.cuh"

namespace pgtune::product {

constexpr int kFragmentsA = WM / 16, kFragmentsB = WN / 16;
constexpr int kAccumulators = WM * WN / 32;  ///< of a thread
constexpr bool kThree = DTYPE == LABEL_tf32x3;
constexpr bool kNearest = TF32_ROUNDING == LABEL_nearest;  ///< tf32, otherwise truncated

using Accumulators = Accumulator[kFragmentsA][2 * kFragmentsB][4];

/// The fragments that a warp multiplies at a time: 32 bytes of k of each operand.
struct Fragments {
  unsigned a[kFragmentsA][4], b[kFragmentsB][4];

  __device__ __forceinline__ void read(unsigned from_a, unsigned from_b, int step) {
    TileA::read(a, from_a, step);
    TileB::read(b, from_b, step);
  }
};

__device__ __forceinline__ unsigned rounded(unsigned bits) {
  if constexpr (kNearest) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(__uint_as_float(bits)));
  return bits;
}

/// Splits floats: `high` keeps its upper 19 bits, which the tensor cores use, and `low` gets the rest. Rounded to
/// nearest, the low parts have random signs, so that what is lost of them and of their product cancels. A NaN whose
/// rounding carries into the sign bit is still a NaN in `low`.
__device__ __forceinline__ void split(unsigned (&high)[4], unsigned (&low)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float all = __uint_as_float(high[i]);
    if (kNearest) high[i] += 0x1000u;
    low[i] = __float_as_uint(all - __uint_as_float(high[i] & 0xffffe000u));
  }
}

/// The b operand of the j-th instruction.
struct PartB {
  unsigned words[2];
  __device__ __forceinline__ PartB(const unsigned (&fragments)[kFragmentsB][4], int j)
      : words{fragments[j / 2][j % 2 * 2], fragments[j / 2][j % 2 * 2 + 1]} {}
};

/// Returns which of a row's instructions comes s-th, in a serpentine: neighbouring instructions share an operand.
constexpr __device__ int there_and_back(int row, int s) { return row % 2 == 0 ? s : 2 * kFragmentsB - 1 - s; }

__device__ __forceinline__ void multiply(Accumulators& acc, Fragments& from) {
#pragma unroll
  for (int i = 0; kNearest && i < kFragmentsA * 4; ++i) from.a[i / 4][i % 4] = rounded(from.a[i / 4][i % 4]);
#pragma unroll
  for (int i = 0; kNearest && i < kFragmentsB * 4; ++i) from.b[i / 4][i % 4] = rounded(from.b[i / 4][i % 4]);
#pragma unroll
  for (int i = 0; i < kFragmentsA; ++i) {
#pragma unroll
    for (int s = 0; s < 2 * kFragmentsB; ++s) {
      const int j = there_and_back(i, s);
      mma_sync(acc[i][j], from.a[i], PartB(from.b, j).words);
    }
  }
}

/// Multiplies 8-bit floats as two products of float16, each with half of the words along k. The order of k does not
/// matter as long as a and b have the same.
__device__ __forceinline__ void multiply_widened(Accumulators& acc, const Fragments& from) {
#pragma unroll
  for (int later = 0; later < 2; ++later) {
    unsigned b[2 * kFragmentsB][2];
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j) widen<false>(PartB(from.b, j).words[later], b[j][0], b[j][1]);
#pragma unroll
    for (int i = 0; i < kFragmentsA; ++i) {
      unsigned a[4];
#pragma unroll
      for (int down = 0; down < 2; ++down)
        widen<DTYPE == LABEL_e5m2>(from.a[i][2 * later + down], a[down], a[2 + down]);
#pragma unroll
      for (int s = 0; s < 2 * kFragmentsB; ++s) mma_sync(acc[i][there_and_back(i, s)], a, b[there_and_back(i, s)]);
    }
  }
}

/// Adds three products, the small ones first. With `fresh` they start new accumulators.
__device__ __forceinline__ void multiply_three(Accumulators& acc, Fragments& from, bool fresh) {
  unsigned low_b[kFragmentsB][4];
#pragma unroll
  for (int j = 0; j < kFragmentsB; ++j) split(from.b[j], low_b[j]);
#pragma unroll
  for (int i = 0; i < kFragmentsA; ++i) {
    unsigned low_a[4];
    split(from.a[i], low_a);
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j) {
      if (fresh) {
        mma_sync_from_zero(acc[i][j], low_a, PartB(from.b, j).words);
      } else {
        mma_sync(acc[i][j], low_a, PartB(from.b, j).words);
      }
    }
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j) mma_sync(acc[i][j], from.a[i], PartB(low_b, j).words);
#pragma unroll
    for (int j = 0; j < 2 * kFragmentsB; ++j) mma_sync(acc[i][j], from.a[i], PartB(from.b, j).words);
  }
}

/// A warp's accumulators: those that the tensor cores add to, and those that promotion adds to.
struct WarpAccumulators {
  Accumulators acc{};                               ///< in the end all
  float recent[kThree ? kAccumulators / 4 : 1][4];  ///< of the last steps, in tf32x3

  /// Adds the products of a step of a k-block.
  __device__ __forceinline__ void add(Fragments& from, int step) {
    if constexpr (kThree) {
      multiply_three(reinterpret_cast<Accumulators&>(recent), from, step % PROMOTION_INTERVAL == 0);
      if (step % PROMOTION_INTERVAL == PROMOTION_INTERVAL - 1 || step == kSteps - 1) {
#pragma unroll
        for (int i = 0; i < kAccumulators; ++i) {
          auto& sum = acc[i / 4 / (2 * kFragmentsB)][i / 4 % (2 * kFragmentsB)][i % 4];
          sum += recent[i / 4][i % 4];
        }
      }
    } else if constexpr (WIDENS) {
      multiply_widened(acc, from);
    } else {
      multiply(acc, from);
    }
  }
};

}  // namespace pgtune::product
