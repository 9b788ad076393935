// SPDX-License-Identifier: MIT
// Copies rows of elements of two or four bytes between lines that are aligned and lines that are not, near the speed of
// memory: a thread loads 16 bytes at a time at multiples of 16, shifts two such words into one of the target, and
// stores that whole. It has kWordsInFlight of the target's words in flight. Only words that a row fills in part are
// stored in pieces of two bytes, at its two ends.
#pragma once

#include "tuner/gpu/baseline/kernels/copy_plans.hpp"

namespace pgtune::gpu {

/// One word of the target, loaded and not yet stored.
struct RowWord {
  uint4 low, high;  ///< the aligned words of the source that it lies in
  unsigned shift;   ///< bytes of `low` before it
  unsigned char* to;
  int first, last;  ///< which of its 16 bytes are the row's; none where first >= last
};

__device__ __forceinline__ uint4 load_if(bool wanted, unsigned long long address) {
  uint4 word = {0, 0, 0, 0};
  if (wanted) word = *reinterpret_cast<const uint4*>(address);
  return word;
}

/// Loads what goes into word `column` of the row. Aligned words of the source that hold nothing of the row's part are
/// not read: they may lie outside of its memory.
__device__ __forceinline__ RowWord load_row_word(const RowCopy& copy, long long batch, long long row, unsigned column) {
  const unsigned long long from = copy.from + batch * copy.batch_from + row * copy.stride_from;
  const unsigned long long to = copy.to + batch * copy.batch_to + row * copy.stride_to;
  const long long begin = 16LL * column - static_cast<long long>(to % 16);  // of the word, from the row's first byte
  const long long left = copy.row_bytes - begin;
  RowWord word;
  word.first = begin < 0 ? static_cast<int>(-begin) : 0;
  word.last = row >= copy.rows ? 0 : left < 16 ? static_cast<int>(left) : 16;
  word.to = reinterpret_cast<unsigned char*>(to + begin);
  word.shift = static_cast<unsigned>((from + begin) % 16);
  const int in_low = 16 - static_cast<int>(word.shift);  // bytes of the word that lie in `low`
  const unsigned long long low = from + begin - word.shift;
  const bool any = word.first < word.last;
  word.low = load_if(any && word.first < in_low, low);
  word.high = load_if(any && word.last > in_low, low + 16);
  return word;
}

__device__ __forceinline__ void store_row_word(const RowWord& word) {
  if (word.first >= word.last) return;
  unsigned words[8] = {word.low.x,  word.low.y,  word.low.z,  word.low.w,
                       word.high.x, word.high.y, word.high.z, word.high.w};
  // Shifted by two words, by one, and by two bytes, as the bits of `shift` say.
  const unsigned shift = word.shift;
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = shift & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = shift & 4 ? words[i + 1] : words[i];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], 8 * (shift & 3));
  if (word.first == 0 && word.last == 16) {
    *reinterpret_cast<uint4*>(word.to) = {words[0], words[1], words[2], words[3]};
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (2 * i >= word.first && 2 * i < word.last)
      reinterpret_cast<unsigned short*>(word.to)[i] = static_cast<unsigned short>(words[i / 2] >> 16 * (i % 2));
  }
}

/// Copies piece `piece` of the matrix: the words of its rows are counted row after row.
__device__ __forceinline__ void copy_rows_piece(const RowCopy& copy, long long batch, long long piece, int thread) {
  const long long first = piece * kPieceWords, first_row = first / copy.row_words;
  // A row of so many bytes that this did not fit 32 bits would not fit a GPU's memory.
  const unsigned column = static_cast<unsigned>(first - first_row * copy.row_words) + static_cast<unsigned>(thread);
  RowWord words[kWordsInFlight];  // all loads before the first store, which they might overlap for the compiler
#pragma unroll
  for (int i = 0; i < kWordsInFlight; ++i) {
    const unsigned at = column + static_cast<unsigned>(i * kRowCopyThreads);
    words[i] = load_row_word(copy, batch, first_row + at / copy.row_words, at % copy.row_words);
  }
#pragma unroll
  for (int i = 0; i < kWordsInFlight; ++i) store_row_word(words[i]);
}

}  // namespace pgtune::gpu
