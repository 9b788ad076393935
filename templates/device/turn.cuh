// SPDX-License-Identifier: MIT
// An operand whose contiguous direction is k, turned in shared memory where the copy engine left it. The threads that
// compute want neighbouring rows (or columns) of D side by side; the copy engine cannot exchange dimensions, and a
// kernel that does so first costs a launch and two passes over memory. A warp that has nothing else to do spends about
// one instruction on it where the computing warps spend a hundred.
#pragma once

namespace pgtune {

/// A panel of kRows lines of kDepth floats, as TMA leaves it with the swizzle that is as long as a line (64 or 128
/// bytes), becomes kDepth lines of kRows floats in the same place.
template <int kRows, int kDepth>
struct Panel {
  static_assert((kRows == 16 || kRows == 32) && (kDepth == 16 || kDepth == 32), "");
  static constexpr int kFloats = kRows * kDepth;
  static constexpr int kAcross = kRows / 4, kDown = kDepth / 4;    ///< blocks of 4 x 4 floats
  static constexpr int kBlocks = (kAcross * kDown - 1) / 32 + 1;  ///< of a lane

  /// The swizzle exchanges a line's pieces of four floats by XOR with this.
  static constexpr __device__ int swizzle(int row) { return kDepth == 32 ? row % 8 : row / 2 % 4; }

  /// Called by a whole warp.
  static __device__ __forceinline__ void turn(float* panel, int lane) {
    if (kAcross * kDown < 32 && lane >= kAcross * kDown) return;
    const int across = lane % kAcross;
    float4 row[kBlocks][4];
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
      const int piece = down(lane, b) ^ swizzle(across * 4);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        row[b][i] = *reinterpret_cast<const float4*>(panel + (across * 4 + i) * kDepth + (piece ^ swizzle(i)) * 4);
      }
    }
    __syncwarp(kAcross * kDown < 32 ? (1u << kAcross * kDown % 32) - 1 : 0xffffffff);
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
      float* const to = panel + down(lane, b) * 4 * kRows + across * 4;
      const float4 &r0 = row[b][0], &r1 = row[b][1], &r2 = row[b][2], &r3 = row[b][3];
      *reinterpret_cast<float4*>(to) = make_float4(r0.x, r1.x, r2.x, r3.x);
      *reinterpret_cast<float4*>(to + kRows) = make_float4(r0.y, r1.y, r2.y, r3.y);
      *reinterpret_cast<float4*>(to + 2 * kRows) = make_float4(r0.z, r1.z, r2.z, r3.z);
      *reinterpret_cast<float4*>(to + 3 * kRows) = make_float4(r0.w, r1.w, r2.w, r3.w);
    }
  }

 private:
  /// Blocks are dealt to the lanes along diagonals: writes then have no bank conflicts, and reads two ways at most.
  static __device__ __forceinline__ int down(int lane, int b) {
    const int across = lane % kAcross;
    return (lane / kAcross + b * (32 / kAcross) + (kDepth == 32 ? across : across / 2)) % kDown;
  }
};

}  // namespace pgtune
