// SPDX-License-Identifier: MIT
// An operand's tile in shared memory, and the parts of it that a warp's mma.sync takes.
//
// The tile lies there as in global memory, in lines along k or along M or N. 16 bytes of a line stay together; lines
// are padded, or their pieces of 16 bytes exchanged by XOR, so that lanes that read different lines meet in no bank.
// ldmatrix hands out every kind of tile but floats that do not lie along k: those are read one by one.
#pragma once

#include "device/ldmatrix.cuh"

namespace pgtune {

/// kExtent rows of A or columns of B by kDepth of k.
template <bool kIsA, bool kLiesAlongK, int kElementBytes, int kExtent, int kDepthElements, bool kPadded>
struct MmaTile {
  static constexpr bool kAlongK = kLiesAlongK;
  static constexpr int kElement = kElementBytes, kDepth = kDepthElements;
  static constexpr int kLines = kAlongK ? kExtent : kDepth;
  static constexpr int kLineBytes = (kAlongK ? kDepth : kExtent) * kElement;
  static constexpr bool kSingle = !kAlongK && kElement == 4;  ///< read without ldmatrix
  static constexpr int kPitch = kLineBytes + (!kPadded ? 0 : kSingle ? 32 : 16);
  static constexpr int kBytes = kLines * kPitch;
  static constexpr int kLinePieces = kLineBytes / 16;

  /// Fragments of 16 rows (A) or of 16 columns (B): a of one instruction, b of two.
  static constexpr int kFragment = 16;

  /// What a line's pieces are exchanged by: ldmatrix reads a piece of eight lines at a time, plain loads two of four.
  static constexpr __device__ int key(int line) {
    if (kPadded) return 0;
    if (kSingle) return line % 4 * 2;
    return kLinePieces >= 8 ? line % 8 : line / (8 / kLinePieces) % kLinePieces;
  }
  /// Byte `byte` of a line, relative to the tile's start.
  static constexpr __device__ int place(int line, int byte) {
    return line * kPitch + ((byte / 16 ^ key(line)) * 16) + byte % 16;
  }

  /// What lane `lane` of a warp whose part starts at row or column `first` adds to a stage's start.
  static __device__ __forceinline__ unsigned lane_offset(int first, int lane) {
    if constexpr (kSingle) return place(lane % 4, (first + lane / 4) * 4);
    // A: the matrices of a fragment lie 8 rows, then 16 bytes of k apart; B: 16 bytes of k, then 8 columns.
    constexpr bool kRowsFirst = kIsA;
    const int outer = (kRowsFirst ? lane / 8 % 2 : lane / 16) * 8, inner = kRowsFirst ? lane / 16 : lane / 8 % 2;
    if constexpr (kAlongK) return place(first + outer + lane % 8, inner * 16);
    return place(inner * 8 + lane % 8, (first + outer) * kElement);
  }

  /// Where a fragment's part of the `step`-th 32 bytes of k lies for a lane; `from`: a stage's start plus
  /// lane_offset(). Read without ldmatrix, its upper or lower 8 rows or columns. Pieces are numbered from a multiple of
  /// the number that a warp reads, so that adding to the number is XOR.
  static __device__ __forceinline__ unsigned fragment_at(unsigned from, int fragment, int step, int half = 0) {
    if (kSingle) return moved(from, (2 * fragment + half) * 32) + step * 8 * kPitch;
    if (kAlongK) return moved(from, step * 32) + fragment * kFragment * kPitch;
    return moved(from, fragment * kFragment * kElement) + step * 16 * kPitch;
  }

  /// Reads a warp's fragments of a step.
  template <int kFragments>
  static __device__ __forceinline__ void read(unsigned (&out)[kFragments][4], unsigned from, int step) {
#pragma unroll
    for (int i = 0; i < kFragments; ++i) {
      if constexpr (kSingle) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const unsigned at = fragment_at(from, i, step, half);
          out[i][kIsA ? half : 2 * half] = load_shared_word(at);
          out[i][kIsA ? 2 + half : 2 * half + 1] = load_shared_word(at + 4 * kPitch);
        }
      } else {
        load_matrices<!kAlongK>(out[i], fragment_at(from, i, step));
      }
    }
  }

 private:
  static __device__ __forceinline__ unsigned moved(unsigned from, int bytes) {
    return kPadded ? from + bytes : from ^ static_cast<unsigned>(bytes);
  }
};

}  // namespace pgtune
