// SPDX-License-Identifier: MIT
// The FFMAs of one step of k on a thread's tile, and their order.
#pragma once

namespace pgtune {

/// How a step's FFMAs follow each other: row by row, or in a serpentine by rows or by columns, so that neighbours share
/// an operand, which the register file then delivers once. Starting the first column at the bottom only makes the
/// compiler choose other registers, which is worth up to 1 %.
enum class FfmaOrder { kRowMajor, kRowSerpentine, kColumnSerpentine, kColumnSerpentineUp };

/// acc += a * b for one step of k.
template <FfmaOrder kOrder, int kRowSerpentine, int kColumnSerpentine>
__device__ __forceinline__ void multiply(float (&acc)[kRowSerpentine][kColumnSerpentine],
                                         const float (&a)[kRowSerpentine], const float (&b)[kColumnSerpentine]) {
  constexpr bool kByRows = kOrder == FfmaOrder::kRowMajor || kOrder == FfmaOrder::kRowSerpentine;
  constexpr int kInner = kByRows ? kColumnSerpentine : kRowSerpentine;
#pragma unroll
  for (int s = 0; s < kRowSerpentine * kColumnSerpentine; ++s) {
    const int outer = s / kInner, inner = s % kInner;
    const bool forward =
        kOrder == FfmaOrder::kRowMajor || outer % 2 == (kOrder == FfmaOrder::kColumnSerpentineUp ? 1 : 0);
    const int serpentine = forward ? inner : kInner - 1 - inner;
    const int i = kByRows ? outer : serpentine, j = kByRows ? serpentine : outer;
    acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
  }
}

}  // namespace pgtune
