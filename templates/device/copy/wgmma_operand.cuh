// SPDX-License-Identifier: MIT
// An operand's tile in shared memory, as TMA loads it and wgmma reads it.
//
// The tile consists of panels: columns of kSpan bytes of what lies side by side in memory (K of a K-major operand, M or
// N of an MN-major one), with one line for each index of the other direction. TMA and the tensor cores swizzle the
// 16-byte pieces of eight lines by the same XOR, which avoids bank conflicts.
#pragma once

#include "device/ptx/tma.cuh"

namespace pgtune {

/// kOuter is the rows of the left operand or the columns of the right one, kBlockK the steps of K, kSpan 32, 64 or 128
/// bytes.
template <bool kMnMajor, int kOuter, int kBlockK, int kElementBytes, int kSpan>
struct WgmmaOperand {
  static constexpr int kAcross = kSpan / kElementBytes;  ///< elements of a panel's line
  static constexpr int kLines = kMnMajor ? kBlockK : kOuter;
  static constexpr int kPanels = (kMnMajor ? kOuter : kBlockK) / kAcross;
  static constexpr int kPanelBytes = kLines * kSpan;
  static constexpr int kBytes = kPanels * kPanelBytes;
  static constexpr bool kAlongMn = kMnMajor;
  static constexpr int kElement = kElementBytes, kSteps = kBlockK, kLineBytes = kSpan;  ///< kSteps: of K
  static_assert(kSpan == 32 || kSpan == 64 || kSpan == 128, "as the descriptor says");
  static_assert((kMnMajor ? kOuter : kBlockK) % kAcross == 0, "panels must be whole");
  static_assert(kPanelBytes % (8 * kSpan) == 0, "the swizzle's pattern counts from multiples of eight lines");
  static_assert(kBytes % 1024 == 0, "so do those of the tiles that follow, whatever their span");
  static_assert(kLines <= 256, "a copy takes at most 256 lines");

  /// The upper half of the descriptor holds the swizzle and the distance to the next eight lines.
  static constexpr unsigned kUpper = (kSpan == 128 ? 1u : kSpan == 64 ? 2u : 3u) << 30 | 8 * kSpan / 16;

  /// Returns the lower half of the descriptor for a tile at this address: the distance from one panel to the next
  /// (without meaning if K-major) and the address. In a cluster the upper bits of a shared address are the CTA's rank;
  /// in the descriptor they would count as a distance.
  static __device__ __forceinline__ unsigned lower(unsigned address) {
    return (kMnMajor ? kPanelBytes / 16 : 1) << 16 | (address & 0x3ffff) >> 4;
  }
  /// Returns what to add to the lower half to start at an outer index and a step of K. An MN-major operand takes whole
  /// panels only.
  static constexpr unsigned offset(int outer, int k) {
    const int bytes = kMnMajor ? outer / kAcross * kPanelBytes + k * kSpan
                               : k / kAcross * kPanelBytes + outer * kSpan + k % kAcross * kElementBytes;
    return bytes / 16;
  }
  static __device__ __forceinline__ unsigned long long descriptor(unsigned lower_half) {
    return static_cast<unsigned long long>(kUpper) << 32 | lower_half;
  }

  /// Returns what the number of a 16-byte piece of a line is XORed with to find its place.
  static constexpr int exchanged(int line) { return line * kSpan / 128 % (kSpan / 16); }
  /// Returns where in the tile a byte lies that is the `byte`-th of a line across all panels.
  static constexpr unsigned place(int line, int byte) {
    const int in_panel = byte % kSpan;
    return byte / kSpan * kPanelBytes + line * kSpan + ((in_panel / 16 ^ exchanged(line)) << 4) + in_panel % 16;
  }

  /// What is loaded of a tile: how many panels, and how many lines of each. TMA takes several times as long to fill a
  /// line outside of the operand with zeros as to load one, and no finished element needs it.
  struct Loaded {
    int lines, panels;
    [[nodiscard]] __device__ __forceinline__ int bytes() const { return lines * panels * kSpan; }
  };
  /// Of a tile with `left` rows or columns of the operand, which may be less than 1 or more than kOuter. kSharers CTAs
  /// load equally many lines, in whole multiples of 128 bytes.
  template <int kSharers>
  static __device__ __forceinline__ Loaded loaded(int left) {
    constexpr int kStep = kMnMajor ? kAcross : 128 / kSpan * kSharers;
    const int inside = min(kOuter, (max(left, 0) + kStep - 1) / kStep * kStep);
    return kMnMajor ? Loaded{kLines, inside / kAcross} : Loaded{inside, kPanels};
  }

  /// One thread issues the TMA loads of the tile. Where kSharers CTAs of the cluster want the same tile, each loads its
  /// `share` and multicasts it to all CTAs of `mask`. The map's box has this many lines of a share.
  template <int kSharers, bool kHinted>
  static __device__ __forceinline__ void load(unsigned to, const TensorMap& map, Loaded loaded, int outer, int k,
                                              int batch, unsigned barrier, int share, unsigned mask,
                                              unsigned long long policy) {
    static_assert(kLines % kSharers == 0 && kLines / kSharers * kSpan % 128 == 0, "shares must be whole");
    if (loaded.lines == 0) return;
    const int first = loaded.lines / kSharers * share;
#pragma unroll
    for (int panel = 0; panel < kPanels; ++panel) {
      if (kMnMajor && panel >= loaded.panels) break;
      const int x = (kMnMajor ? outer : k) + panel * kAcross, y = (kMnMajor ? k : outer) + first;
      tma_load_multicast<(kSharers > 1), kHinted>(to + panel * kPanelBytes + first * kSpan, map, x, y, batch, barrier,
                                                  mask, policy);
    }
  }
};

}  // namespace pgtune
