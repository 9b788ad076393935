// SPDX-License-Identifier: MIT
// Transposition through shared memory: a CTA reads a tile of TILE_ROWS x TILE_COLUMNS elements of X in vectors along
// its rows and writes it in vectors along its columns. In between lie, by SMEM_LAYOUT,
//
//   pad      elements in the order of X, with PAD_BYTES behind each row of the tile: elements are stored and loaded one
//            by one;
//   swizzle  words of 4 bytes in the order of Y, each with the elements of neighbouring rows in one column, which a
//            thread puts together in registers from the rows that it has read: words are stored one by one, and loaded
//            as the vectors that are written. A word's place is XORed with its column, so that the words of threads
//            side by side meet in as few banks as possible.
#include "device/rows/vector_access.cuh"

namespace pgtune {

#if ELEM_BYTES == 1
using Element = unsigned char;
#elif ELEM_BYTES == 2
using Element = unsigned short;
#else
using Element = unsigned;
#endif

constexpr int kRows = TILE_ROWS, kColumns = TILE_COLUMNS, kPitch = TILE_COLUMNS + PAD_BYTES / ELEM_BYTES;
constexpr int kThreads = THREADS;
constexpr bool kLoadStreaming = LOAD_HINT == LABEL_evict_first, kStoreStreaming = STORE_HINT == LABEL_evict_first;

/// Elements that are moved at once.
template <int kBytes>
union Elements {
  typename Bits<kBytes>::Type bits;
  Element values[kBytes / ELEM_BYTES];
};

using Read = Elements<READ_BYTES>;
using Write = Elements<WRITE_BYTES>;
constexpr int kPerRead = READ_BYTES / ELEM_BYTES, kPerWrite = WRITE_BYTES / ELEM_BYTES;
constexpr int kReads = kRows * kColumns / kPerRead, kWrites = kRows * kColumns / kPerWrite;

/// Vectors of neighbouring threads lie behind each other in a row of X, and of Y.
__device__ __forceinline__ void read_tile(Element (&tile)[kRows][kPitch], const Element* x, long long row0,
                                          long long column0, long long rows, long long columns) {
  constexpr int kPerRow = kColumns / kPerRead;
  Read vectors[(kReads + kThreads - 1) / kThreads];
#pragma unroll
  for (int c = 0; c < (kReads + kThreads - 1) / kThreads; ++c) {
    const int v = c * kThreads + threadIdx.x, i = v / kPerRow, j = v % kPerRow * kPerRead;
    if (v < kReads && row0 + i < rows && column0 + j < columns)
      vectors[c].bits = load_bits<kLoadStreaming>(
          reinterpret_cast<const Bits<READ_BYTES>::Type*>(x + (row0 + i) * columns + column0 + j));
  }
#pragma unroll
  for (int c = 0; c < (kReads + kThreads - 1) / kThreads; ++c) {
    const int v = c * kThreads + threadIdx.x, i = v / kPerRow, j = v % kPerRow * kPerRead;
    if (v >= kReads || row0 + i >= rows || column0 + j >= columns) continue;
#pragma unroll
    for (int e = 0; e < kPerRead; ++e) tile[i][j + e] = vectors[c].values[e];
  }
}

__device__ __forceinline__ void write_tile(const Element (&tile)[kRows][kPitch], Element* y, long long row0,
                                           long long column0, long long rows, long long columns) {
  constexpr int kPerColumn = kRows / kPerWrite;
#pragma unroll
  for (int c = 0; c < (kWrites + kThreads - 1) / kThreads; ++c) {
    const int v = c * kThreads + threadIdx.x, j = v / kPerColumn, i = v % kPerColumn * kPerWrite;
    if (v >= kWrites || row0 + i >= rows || column0 + j >= columns) continue;
    Write vector;
#pragma unroll
    for (int e = 0; e < kPerWrite; ++e) vector.values[e] = tile[i + e][j];
    store_bits<kStoreStreaming>(reinterpret_cast<Bits<WRITE_BYTES>::Type*>(y + (column0 + j) * rows + row0 + i),
                                vector.bits);
  }
}

constexpr int kPacked = 4 / ELEM_BYTES;  // elements in a word
constexpr int kWordRows = kRows / kPacked, kWordsPerWrite = WRITE_BYTES / 4;

/// The place of a column's word with rows kPacked * i and those behind it. What is XORed keeps four words together, and
/// differs between the vectors of eight threads side by side.
__device__ __forceinline__ int place_of_word(int i, int column) {
  return (column * kWordRows + i) ^ (column / kPerRead % 8 * 4);
}

__device__ __forceinline__ void read_words(unsigned* words, const Element* x, long long row0, long long column0,
                                           long long rows, long long columns) {
  constexpr int kPerRow = kColumns / kPerRead, kUnits = kWordRows * kPerRow;
  Read vectors[(kUnits + kThreads - 1) / kThreads][kPacked];
#pragma unroll
  for (int c = 0; c < (kUnits + kThreads - 1) / kThreads; ++c) {
    const int unit = c * kThreads + threadIdx.x, i = unit / kPerRow * kPacked, j = unit % kPerRow * kPerRead;
    // Y's rows are whole words: of the rows of one word none or all are in X.
    if (unit >= kUnits || row0 + i >= rows || column0 + j >= columns) continue;
#pragma unroll
    for (int p = 0; p < kPacked; ++p)
      vectors[c][p].bits = load_bits<kLoadStreaming>(
          reinterpret_cast<const Bits<READ_BYTES>::Type*>(x + (row0 + i + p) * columns + column0 + j));
  }
#pragma unroll
  for (int c = 0; c < (kUnits + kThreads - 1) / kThreads; ++c) {
    const int unit = c * kThreads + threadIdx.x, i = unit / kPerRow, j = unit % kPerRow * kPerRead;
    if (unit >= kUnits || row0 + i * kPacked >= rows || column0 + j >= columns) continue;
#pragma unroll
    for (int e = 0; e < kPerRead; ++e) {
      unsigned word = 0;
#pragma unroll
      for (int p = 0; p < kPacked; ++p) word |= static_cast<unsigned>(vectors[c][p].values[e]) << 8 * ELEM_BYTES * p;
      words[place_of_word(i, j + e)] = word;
    }
  }
}

__device__ __forceinline__ void write_words(const unsigned* words, Element* y, long long row0, long long column0,
                                            long long rows, long long columns) {
  constexpr int kPerColumn = kRows / kPerWrite;
  using Type = Bits<WRITE_BYTES>::Type;
#pragma unroll
  for (int c = 0; c < (kWrites + kThreads - 1) / kThreads; ++c) {
    const int v = c * kThreads + threadIdx.x, j = v / kPerColumn, i = v % kPerColumn;
    if (v >= kWrites || row0 + i * kPerWrite >= rows || column0 + j >= columns) continue;
    const Type bits = *reinterpret_cast<const Type*>(words + place_of_word(i * kWordsPerWrite, j));
    store_bits<kStoreStreaming>(reinterpret_cast<Type*>(y + (column0 + j) * rows + row0 + i * kPerWrite), bits);
  }
}

}  // namespace pgtune

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose_tiles(const void* x, void* y, long long rows, long long columns) {
  using namespace pgtune;
  const long long across = (columns + kColumns - 1) / kColumns;
  // Neighbouring CTAs go along the rows of X or along those of Y: what they share of a cache line meets in L2.
  const long long down = (rows + kRows - 1) / kRows, index = blockIdx.x;
  const bool along_x = RASTER == LABEL_along_x;
  const long long row0 = (along_x ? index / across : index % down) * kRows;
  const long long column0 = (along_x ? index % across : index / down) * kColumns;
#if SMEM_LAYOUT == LABEL_swizzle
  alignas(16) __shared__ unsigned words[kColumns * kWordRows];
  read_words(words, static_cast<const Element*>(x), row0, column0, rows, columns);
  __syncthreads();
  write_words(words, static_cast<Element*>(y), row0, column0, rows, columns);
#else
  __shared__ Element tile[kRows][kPitch];
  read_tile(tile, static_cast<const Element*>(x), row0, column0, rows, columns);
  __syncthreads();
  write_tile(tile, static_cast<Element*>(y), row0, column0, rows, columns);
#endif
}
