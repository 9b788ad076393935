// SPDX-License-Identifier: MIT
// Stores a box of D in shared memory (wgmma_box.cuh) to rows that TMA cannot write: a warp stores whole lines, one
// after another, wherever they start.
#pragma once

#include "device/ptx/shared_memory.cuh"

namespace pgtune {

/// Box: a WgmmaBox, in lines of kSpan bytes along the rows of D.
template <class Box>
struct StagedLines {
  /// Stores elements 2 * word and the next of a line of 16-bit elements, or those one further on where the line does
  /// not start at a multiple of four bytes. `last`: the box has no word after it.
  template <bool kEven>
  static __device__ __forceinline__ void store_word(unsigned short* line, unsigned own, unsigned after, int word,
                                                    bool last, int elements_left) {
    const bool shifted = !kEven && reinterpret_cast<unsigned long long>(line) % 4 != 0;
    const int element = 2 * word + shifted;
    if (shifted && word == 0 && elements_left > 0) line[0] = static_cast<unsigned short>(own);
    const unsigned two = shifted ? __byte_perm(own, after, 0x5432) : own;
    if (element + 1 < elements_left && !(shifted && last)) {
      *reinterpret_cast<unsigned*>(line + element) = two;
    } else if (element < elements_left) {
      line[element] = static_cast<unsigned short>(two);
    }
  }

  /// Stores the box to lines of `ld` elements from `to` on, of which as many lines and elements exist as are left, in
  /// words that start at multiples of four bytes: where a line of 16-bit elements starts between two of these, a word
  /// has the second half of a lane's and the first of its neighbour's, and the line's ends are stored alone. kEven: no
  /// line does. kUnrolled: how many steps are unrolled, each of which has a word and its place in registers. Whole
  /// warps call it.
  template <bool kEven, int kUnrolled, class Number>
  static __device__ __forceinline__ void store_lines(Number* to, long long ld, int lines_left, int elements_left,
                                                     unsigned box, int lane) {
    static_assert(Box::kWarps == 1, "a warp stores what it filled");
    constexpr int kWords = kSpan / 4, kAtOnce = 32 / kWords;  ///< of a line; lines
    const int first = lane / kWords, word = lane % kWords;
    Number* next = to + first * ld;
#pragma unroll kUnrolled
    for (int i = 0; i < Box::kLines; i += kAtOnce) {
      const int line = first + i;
      const unsigned own = load_shared(Box::place(box, line, word / 4) + word % 4 * 4);
      if constexpr (kElementBytes == 4) {
        if (line < lines_left && word < elements_left) reinterpret_cast<unsigned*>(next)[word] = own;
      } else {
        const unsigned after = kEven ? 0 : __shfl_down_sync(0xffffffff, own, 1, kWords);
        if (line < lines_left) store_word<kEven>(next, own, after, word, word + 1 == kWords, elements_left);
      }
      next += kAtOnce * ld;
    }
  }

 private:
  static constexpr int kSpan = Box::kBytes / Box::kLines;
  static constexpr int kElementBytes = static_cast<int>(sizeof(typename Box::Element));
};

}  // namespace pgtune
