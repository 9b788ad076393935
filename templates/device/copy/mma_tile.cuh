// SPDX-License-Identifier: MIT
// An operand's tile in shared memory, and the parts of it that a warp's mma.sync takes.
//
// The tile lies there as in global memory, in lines along k or along M or N. 16 bytes of a line stay together; lines
// are padded, or their pieces of 16 bytes exchanged by XOR, so that lanes that read different lines meet in no bank.
// ldmatrix hands out every kind of tile but floats that do not lie along k: those are read one by one.
//
// ldmatrix transposes pairs of bytes, not bytes. Where bytes do not lie along k, it hands a lane two rows (or columns)
// of two lines, and the bytes of two of its matrices are exchanged to make four of k for either row. So that these four
// are neighbours, as in tiles along k, lines are kept in another order; so that nothing else has to be exchanged, a
// lane has rows 2g and 2g + 1 of a fragment where the instruction says g and g + 8 (outer_of()).
#pragma once

#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/shared_memory.cuh"

namespace pgtune {

/// kExtent rows of A or columns of B by kDepth of k.
template <bool kIsA, bool kLiesAlongK, int kElementBytes, int kExtent, int kDepthElements, bool kPadded>
struct MmaTile {
  static constexpr bool kAlongK = kLiesAlongK;
  static constexpr int kElement = kElementBytes, kDepth = kDepthElements;
  static constexpr int kLines = kAlongK ? kExtent : kDepth;
  static constexpr int kLineBytes = (kAlongK ? kDepth : kExtent) * kElement;
  static constexpr bool kSingle = !kAlongK && kElement == 4;   ///< read without ldmatrix
  static constexpr bool kByBytes = !kAlongK && kElement == 1;  ///< by ldmatrix, and bytes are exchanged
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
  /// Lines are kept in this order. Of bytes, lines 0, 1, 4, 5, 8, 9, 12 and 13 of each 16 come first: ldmatrix hands
  /// out two lines to a lane, of them and of the others, four neighbours in all.
  static constexpr __device__ int slot(int line) {
    return kByBytes ? line / 16 * 16 + line / 2 % 2 * 8 + line % 16 / 4 * 2 + line % 2 : line;
  }
  /// So many lines on, lines lie as here.
  static constexpr int kPeriod = kByBytes ? 16 : 8;
  /// Byte `byte` of a line, relative to the tile's start.
  static constexpr __device__ int place(int line, int byte) { return place_of_slot(slot(line), byte); }

  /// Which row of a fragment (or column) is meant by row `place` of its upper (0) or lower (1) half.
  static constexpr __device__ int outer_of(int half, int place) {
    return kByBytes ? 2 * place + half : 8 * half + place;
  }

  /// What lane `lane` of a warp whose part starts at row or column `first` adds to a stage's start.
  static __device__ __forceinline__ unsigned lane_offset(int first, int lane) {
    if constexpr (kSingle) return place(lane % 4, (first + lane / 4) * 4);
    if constexpr (kByBytes) return place_of_slot(lane, first);
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
    return moved(from, fragment * kFragment * kElement) + step * (32 / kElement) * kPitch;
  }

  /// Makes what an instruction takes of what ldmatrix handed out of bytes: of matrices 0 and 1, then of 2 and 3, even
  /// bytes are of one row (or column), odd ones of the next. A's words go down the rows first, B's along k.
  static __device__ __forceinline__ void exchange_bytes(unsigned (&words)[4]) {
    const unsigned even0 = __byte_perm(words[0], words[1], 0x6420), odd0 = __byte_perm(words[0], words[1], 0x7531);
    const unsigned even1 = __byte_perm(words[2], words[3], 0x6420), odd1 = __byte_perm(words[2], words[3], 0x7531);
    words[0] = even0, words[kIsA ? 1 : 2] = odd0;
    words[kIsA ? 2 : 1] = even1, words[3] = odd1;
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
        if constexpr (kByBytes) exchange_bytes(out[i]);
      }
    }
  }

 private:
  static constexpr __device__ int place_of_slot(int slot, int byte) {
    return slot * kPitch + ((byte / 16 ^ key(slot)) * 16) + byte % 16;
  }
  static __device__ __forceinline__ unsigned moved(unsigned from, int bytes) {
    return kPadded ? from + bytes : from ^ static_cast<unsigned>(bytes);
  }
};

}  // namespace pgtune
