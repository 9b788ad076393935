// SPDX-License-Identifier: MIT
// An operand whose contiguous direction is k, turned in shared memory where the copy engine left it. The threads that
// compute want neighbouring rows (or columns) of D side by side; the copy engine cannot exchange dimensions, and a
// kernel that does so first costs a launch and two passes over memory. A warp that has nothing else to do spends about
// one instruction on it where the computing warps spend a hundred.
#pragma once

namespace pgtune {

/// A panel of kRows lines of 16 floats, as TMA leaves it with its swizzle of 64 bytes, becomes 16 lines of kRows floats
/// in the same place.
template <int kRows>
struct Panel {
  static_assert(kRows == 16 || kRows == 32, "a lane turns one block of 4 x 4 floats");
  static constexpr int kDepth = 16, kFloats = kRows * kDepth;
  static constexpr int kAcross = kRows / 4, kDown = kDepth / 4;  ///< blocks
  static constexpr unsigned kLanes = kAcross * kDown == 32 ? 0xffffffff : 0x0000ffff;

  /// The swizzle exchanges a line's pieces of four floats by XOR with this.
  static constexpr __device__ int swizzle(int row) { return row / 2 % 4; }

  /// Called by a whole warp.
  static __device__ __forceinline__ void turn(float* panel, int lane) {
    if ((kLanes >> lane & 1) == 0) return;
    // Blocks are dealt to the lanes along diagonals: writes then have no bank conflicts, and reads two-way ones.
    const int across = lane % kAcross, down = (lane / kAcross + across / 2) % kDown;
    const float* const from = panel + across * 4 * kDepth;
    const int piece = down ^ swizzle(across * 4);
    float4 row[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      row[i] = *reinterpret_cast<const float4*>(from + i * kDepth + (piece ^ swizzle(i)) * 4);
    }
    __syncwarp(kLanes);
    float* const to = panel + down * 4 * kRows + across * 4;
    *reinterpret_cast<float4*>(to) = make_float4(row[0].x, row[1].x, row[2].x, row[3].x);
    *reinterpret_cast<float4*>(to + kRows) = make_float4(row[0].y, row[1].y, row[2].y, row[3].y);
    *reinterpret_cast<float4*>(to + 2 * kRows) = make_float4(row[0].z, row[1].z, row[2].z, row[3].z);
    *reinterpret_cast<float4*>(to + 3 * kRows) = make_float4(row[0].w, row[1].w, row[2].w, row[3].w);
  }
};

}  // namespace pgtune
