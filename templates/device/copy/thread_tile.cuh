// SPDX-License-Identifier: MIT
// A thread's part of A's or B's tile, read from shared memory one step of k ahead of the FFMAs that use it.
#pragma once

#include "device/copy/transpose_panel.cuh"

namespace pgtune {

/// One operand's tile in shared memory, and a thread's part of it in registers. A line is one step of k: of the whole
/// tile, or of one panel after the other where they were turned.
template <bool kTurned, int kExtent, int kDepth, int kThreadExtent, int kLanes>
struct Operand {
  static constexpr int kFloats = kExtent * kDepth;  ///< of a stage
  static constexpr int kLine = kTurned && kExtent > 32 ? 32 : kExtent;
  static_assert(!kTurned || kDepth == 16, "the length of the lines that a Panel turns");
  static_assert(!kTurned || kThreadExtent % 8 == 0 || kLanes % 8 == 0, "a thread's steps stay within their panels");

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

}  // namespace pgtune
