// SPDX-License-Identifier: MIT
// The FFMAs of one step of k on a thread's tile, and their order.
#pragma once

namespace pgtune {

/// How a step's FFMAs follow each other: row by row, or in a serpentine by rows or by columns, so that neighbours share
/// an operand, which the register file then need not deliver twice. That the first column runs up instead of down only
/// makes the compiler choose other registers, which is worth up to 1 %.
enum class Order { kPlain, kRows, kColumns, kColumnsUpward };

/// acc += a * b for one step of k.
template <Order kOrder, int kRows, int kColumns>
__device__ __forceinline__ void multiply(float (&acc)[kRows][kColumns], const float (&a)[kRows],
                                         const float (&b)[kColumns]) {
  constexpr bool kByRows = kOrder == Order::kPlain || kOrder == Order::kRows;
  constexpr int kInner = kByRows ? kColumns : kRows;
#pragma unroll
  for (int s = 0; s < kRows * kColumns; ++s) {
    const int outer = s / kInner, inner = s % kInner;
    const bool forward = kOrder == Order::kPlain || outer % 2 == (kOrder == Order::kColumnsUpward ? 1 : 0);
    const int turned = forward ? inner : kInner - 1 - inner;
    const int i = kByRows ? outer : turned, j = kByRows ? turned : outer;
    acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
  }
}

}  // namespace pgtune
