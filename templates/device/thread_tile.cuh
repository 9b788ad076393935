// SPDX-License-Identifier: MIT
// The inner product of a thread: its part of A's and of B's tile, read from shared memory one step of k ahead of the
// FFMAs that use it.
#pragma once

#include "device/turn.cuh"

namespace pgtune {

/// One operand's tile in shared memory, and a thread's part of it in registers. A line is one step of k: of the whole
/// tile, or of one panel after the other where they were turned.
template <bool kTurned, int kExtent, int kDepth, int kThreadExtent, int kLanes>
struct Operand {
  static constexpr int kFloats = kExtent * kDepth;  ///< of a stage
  static constexpr int kLine = kTurned && kExtent > 32 ? 32 : kExtent;
  static_assert(!kTurned || kDepth == 16, "the length of the lines that a Panel turns");

  float value[2][kThreadExtent];  ///< one half is used while the other is read
  int first;                      ///< where this thread's first piece of four starts in a stage, in floats

  /// A thread's i-th row (or column), relative to its first. Neighbouring lanes have neighbouring pieces of four.
  static constexpr __device__ int outer_step(int i) { return i / 4 * (4 * kLanes) + i % 4; }
  static __device__ __forceinline__ int first_outer(int warp, int lane) {
    return warp * (kLanes * kThreadExtent) + lane * 4;
  }
  /// Where a row (or column) is in a line. Adding a thread's first to a step never carries into the next panel.
  static constexpr __device__ int in_line(int outer) { return outer / kLine * (kLine * kDepth) + outer % kLine; }

  __device__ __forceinline__ void locate(int outer) { first = in_line(outer); }

  __device__ __forceinline__ void read(const float* stage, int k) {
#pragma unroll
    for (int i = 0; i < kThreadExtent; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(stage + first + k * kLine + in_line(outer_step(i)));
      value[k % 2][i] = four.x, value[k % 2][i + 1] = four.y;
      value[k % 2][i + 2] = four.z, value[k % 2][i + 3] = four.w;
    }
  }

  /// A warp's share of a stage, where `warps` turn it.
  static __device__ __forceinline__ void turn(float* stage, int lane, int warp, int warps) {
    if constexpr (kTurned) {
      using Lines = Panel<kLine>;
#pragma unroll 1
      for (int panel = warp; panel < kExtent / kLine; panel += warps) {
        Lines::turn(stage + panel * Lines::kFloats, lane);
      }
    }
  }
};

/// How a step's FFMAs follow each other: in a serpentine by rows or by columns, so that neighbours share an operand,
/// which the register file then need not deliver twice. That the first column runs up instead of down only makes the
/// compiler choose other registers, which is worth up to 1 %.
enum class Order { kRows, kColumns, kColumnsUpward };

/// acc += a * b for one step of k.
template <Order kOrder, int kRows, int kColumns, class A, class B>
__device__ __forceinline__ void multiply(float (&acc)[kRows][kColumns], const A& a, const B& b, int k) {
  constexpr bool kByRows = kOrder == Order::kRows;
  constexpr int kInner = kByRows ? kColumns : kRows;
#pragma unroll
  for (int s = 0; s < kRows * kColumns; ++s) {
    const int outer = s / kInner, inner = s % kInner;
    const bool forward = outer % 2 == (kOrder == Order::kColumnsUpward ? 1 : 0);
    const int turned = forward ? inner : kInner - 1 - inner;
    const int i = kByRows ? outer : turned, j = kByRows ? turned : outer;
    acc[i][j] = fmaf(a.value[k % 2][i], b.value[k % 2][j], acc[i][j]);
  }
}

}  // namespace pgtune
