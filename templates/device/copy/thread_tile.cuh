// SPDX-License-Identifier: MIT
// A thread's fragments of A's or B's tile, loaded from shared memory one step of k ahead of the FFMAs that use them.
#pragma once

#include "device/copy/transpose_panel.cuh"

namespace pgtune {

/// One operand's tile in shared memory and a thread's fragment of it in registers. A line is one step of k: of the
/// whole tile, or of one panel after the other where panels are transposed.
template <bool kTransposed, int kExtent, int kBlockK, int kThreadExtent, int kLanes>
struct Operand {
  static constexpr int kFloats = kExtent * kBlockK;  ///< of a stage
  static constexpr int kLine = kTransposed && kExtent > 32 ? 32 : kExtent;
  static_assert(!kTransposed || kBlockK == 16, "the length of the lines that a Panel transposes");
  static_assert(!kTransposed || kThreadExtent % 8 == 0 || kLanes % 8 == 0, "a thread's steps stay within their panels");

  float value[2][kThreadExtent];  ///< one half is used while the other is read
  int first;                      ///< where this thread's first piece of four starts in a stage, in floats

  /// Returns a thread's i-th row (or column), relative to its first. Neighbouring lanes have neighbouring pieces of
  /// four.
  static constexpr __device__ int outer_step(int i) { return i / 4 * (4 * kLanes) + i % 4; }
  static __device__ __forceinline__ int first_outer(int warp, int lane) {
    return warp * (kLanes * kThreadExtent) + lane * 4;
  }
  /// Returns where a row (or column) lies in a line. Adding a thread's first to a step never carries into the next
  /// panel.
  static constexpr __device__ int in_line(int outer) { return outer / kLine * (kLine * kBlockK) + outer % kLine; }

  __device__ __forceinline__ void locate(int outer) { first = in_line(outer); }

  __device__ __forceinline__ void read(const float* stage, int k) {
#pragma unroll
    for (int i = 0; i < kThreadExtent; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(stage + first + k * kLine + in_line(outer_step(i)));
      value[k % 2][i] = four.x, value[k % 2][i + 1] = four.y;
      value[k % 2][i + 2] = four.z, value[k % 2][i + 3] = four.w;
    }
  }

  /// Transposes a warp's share of a stage; `warps` warps share it.
  static __device__ __forceinline__ void transpose(float* stage, int lane, int warp, int warps) {
    if constexpr (kTransposed) {
      using Lines = Panel<kLine>;
#pragma unroll 1
      for (int panel = warp; panel < kExtent / kLine; panel += warps) {
        Lines::transpose(stage + panel * Lines::kFloats, lane);
      }
    }
  }
};

}  // namespace pgtune
