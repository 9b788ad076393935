// SPDX-License-Identifier: MIT
// An operand's tile in shared memory, and the fragments of it that a warp's mma.sync takes.
//
// The tile lies in shared memory as in global memory, in lines along k or along M or N. 16 bytes of a line stay
// together. Lines are padded, or their 16-byte pieces are swizzled by an XOR, so that lanes that read different lines
// use different banks. ldmatrix loads every kind of tile except floats that do not lie along k, which are loaded one by
// one.
//
// ldmatrix transposes pairs of bytes, not bytes. Where bytes do not lie along k, it gives a lane two rows (or columns)
// of two lines, and the bytes of two of its matrices are exchanged to make four of k for either row. So that these four
// are neighbours, as in tiles along k, lines are kept in another order. So that nothing else has to be exchanged, a
// lane has rows 2g and 2g + 1 of a fragment where the instruction says g and g + 8 (outer_of()).
#pragma once

#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/shared_memory.cuh"

namespace pgtune {

/// The tile of kExtent rows of A or columns of B, and kBlockK of k.
template <bool kIsA, bool kLiesAlongK, int kElementBytes, int kExtent, int kBlockKElements, bool kPadded>
struct MmaTile {
  static constexpr bool kAlongK = kLiesAlongK;
  static constexpr int kElement = kElementBytes, kBlockK = kBlockKElements;
  static constexpr int kLines = kAlongK ? kExtent : kBlockK;
  static constexpr int kLineBytes = (kAlongK ? kBlockK : kExtent) * kElement;
  static constexpr bool kSingle = !kAlongK && kElement == 4;   ///< read without ldmatrix
  static constexpr bool kByBytes = !kAlongK && kElement == 1;  ///< by ldmatrix, and bytes are exchanged
  static constexpr int kPitch = kLineBytes + (!kPadded ? 0 : kSingle ? 32 : 16);
  static constexpr int kBytes = kLines * kPitch;
  static constexpr int kLinePieces = kLineBytes / 16;

  /// A fragment has 16 rows of A, which one instruction takes, or 16 columns of B, which two take.
  static constexpr int kFragment = 16;

  /// The XOR key of a line's pieces. ldmatrix reads one piece of eight lines at a time, plain loads read two pieces of
  /// four.
  static constexpr __device__ int key(int line) {
    if (kPadded) return 0;
    if (kSingle) return line % 4 * 2;
    return kLinePieces >= 8 ? line % 8 : line / (8 / kLinePieces) % kLinePieces;
  }
  /// The order in which lines are kept. Of bytes, lines 0, 1, 4, 5, 8, 9, 12 and 13 of each 16 come first: ldmatrix
  /// gives a lane two lines of these and two of the others, four neighbours in all.
  static constexpr __device__ int slot(int line) {
    return kByBytes ? line / 16 * 16 + line / 2 % 2 * 8 + line % 16 / 4 * 2 + line % 2 : line;
  }
  /// The pattern of line places repeats after so many lines.
  static constexpr int kPeriod = kByBytes ? 16 : 8;
  /// Returns where byte `byte` of a line lies, relative to the tile's start.
  static constexpr __device__ int place(int line, int byte) { return place_of_slot(slot(line), byte); }

  /// Returns the row (or column) of a fragment that row `place` of its upper (0) or lower (1) half stands for.
  static constexpr __device__ int outer_of(int half, int place) {
    return kByBytes ? 2 * place + half : 8 * half + place;
  }

  /// Returns what lane `lane` of a warp whose part starts at row or column `first` adds to a stage's start.
  static __device__ __forceinline__ unsigned lane_offset(int first, int lane) {
    if constexpr (kSingle) return place(lane % 4, (first + lane / 4) * 4);
    if constexpr (kByBytes) return place_of_slot(lane, first);
    // A: the matrices of a fragment lie 8 rows, then 16 bytes of k apart; B: 16 bytes of k, then 8 columns.
    constexpr bool kRowsFirst = kIsA;
    const int outer = (kRowsFirst ? lane / 8 % 2 : lane / 16) * 8, inner = kRowsFirst ? lane / 16 : lane / 8 % 2;
    if constexpr (kAlongK) return place(first + outer + lane % 8, inner * 16);
    return place(inner * 8 + lane % 8, (first + outer) * kElement);
  }

  /// Returns where a lane reads a fragment for the `step`-th 32 bytes of k; `from` is a stage's start plus
  /// lane_offset(). Without ldmatrix `half` selects its upper or lower 8 rows or columns. Pieces are numbered from a
  /// multiple of the number that a warp reads, so that adding to the number is an XOR.
  static __device__ __forceinline__ unsigned fragment_at(unsigned from, int fragment, int step, int half = 0) {
    if (kSingle) return moved(from, (2 * fragment + half) * 32) + step * 8 * kPitch;
    if (kAlongK) return moved(from, step * 32) + fragment * kFragment * kPitch;
    return moved(from, fragment * kFragment * kElement) + step * (32 / kElement) * kPitch;
  }

  /// Arranges bytes that ldmatrix loaded for the instruction: of matrices 0 and 1, then of 2 and 3, even bytes belong
  /// to one row (or column), odd ones to the next. A's words go down the rows first, B's go along k first.
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
          out[i][kIsA ? half : 2 * half] = load_shared(at);
          out[i][kIsA ? 2 + half : 2 * half + 1] = load_shared(at + 4 * kPitch);
        }
      } else {
        ldmatrix_x4<!kAlongK>(out[i], fragment_at(from, i, step));
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
