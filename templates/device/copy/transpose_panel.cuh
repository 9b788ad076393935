// SPDX-License-Identifier: MIT
// Transposes an operand whose contiguous direction is k in shared memory, where TMA left it. Consumers want
// neighbouring rows (or columns) of D side by side; TMA cannot exchange dimensions, and a kernel that transposes first
// costs a launch and two passes over memory. A producer warp that has nothing else to do spends about one instruction
// on it where the consumer warps spend a hundred.
#pragma once

namespace pgtune {

/// A panel of kRows lines of 16 floats, as TMA leaves it with its 64-byte swizzle. transpose() makes it 16 lines of
/// kRows floats in the same place.
template <int kRows>
struct Panel {
  static_assert(kRows == 16 || kRows == 32, "a lane transposes one block of 4 x 4 floats");
  static constexpr int kBlockK = 16, kFloats = kRows * kBlockK;
  static constexpr int kAcross = kRows / 4, kDown = kBlockK / 4;  ///< blocks
  static constexpr bool kAllLanes = kAcross * kDown == 32;

  /// Called by a whole warp.
  static __device__ __forceinline__ void transpose(float* panel, int lane) {
    if (!kAllLanes && lane >= kAcross * kDown) return;
    // Blocks are dealt to the lanes along diagonals, and every other four lanes read odd lines first. So there are no
    // bank conflicts, which matter because the consumers alone keep shared memory three quarters busy.
    const int across = lane % kAcross, down = (lane / kAcross + across / 2) % kDown;
    const bool odd_first = across / 4 % 2 != 0;
    // The swizzle exchanges a line's pieces of four floats by XOR with half the line's number.
    const int piece = down ^ across * 2 % 4;
    const int second = odd_first ? -kBlockK : kBlockK, third = 2 * kBlockK + (piece % 2 == 0 ? 4 : -4);
    const float* const from = panel + across * 4 * kBlockK + (odd_first ? kBlockK : 0) + piece * 4;
    float4 row[4] = {line(from), line(from + second), line(from + third), line(from + third + second)};
    __syncwarp(kAllLanes ? 0xffffffff : 0x0000ffff);
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const float4 even = odd_first ? row[i + 1] : row[i], odd = odd_first ? row[i] : row[i + 1];
      row[i] = even, row[i + 1] = odd;
    }
    float* const to = panel + down * 4 * kRows + across * 4;
    *reinterpret_cast<float4*>(to) = make_float4(row[0].x, row[1].x, row[2].x, row[3].x);
    *reinterpret_cast<float4*>(to + kRows) = make_float4(row[0].y, row[1].y, row[2].y, row[3].y);
    *reinterpret_cast<float4*>(to + 2 * kRows) = make_float4(row[0].z, row[1].z, row[2].z, row[3].z);
    *reinterpret_cast<float4*>(to + 3 * kRows) = make_float4(row[0].w, row[1].w, row[2].w, row[3].w);
  }

 private:
  static __device__ __forceinline__ float4 line(const float* from) { return *reinterpret_cast<const float4*>(from); }
};

}  // namespace pgtune
