// SPDX-License-Identifier: MIT
// Transposition through shared memory: a CTA reads a tile of TILE_ROWS x TILE_COLUMNS elements of X in vectors along
// its rows and writes it in vectors along its columns. Shared memory holds elements, a row of the tile PITCH of them
// apart.
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

/// kCount elements that are moved at once.
template <int kCount>
struct alignas(kCount * sizeof(Element)) Elements {
  Element values[kCount];
};

using Read = Elements<READ_BYTES / ELEM_BYTES>;
using Write = Elements<WRITE_BYTES / ELEM_BYTES>;
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
      vectors[c] = *reinterpret_cast<const Read*>(x + (row0 + i) * columns + column0 + j);
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
    *reinterpret_cast<Write*>(y + (column0 + j) * rows + row0 + i) = vector;
  }
}

}  // namespace pgtune

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose_tiles(const void* x, void* y, long long rows, long long columns) {
  using namespace pgtune;
  __shared__ Element tile[kRows][kPitch];
  const long long across = (columns + kColumns - 1) / kColumns;
  // Neighbouring CTAs go along the rows of X or along those of Y: what they share of a cache line meets in L2.
  const long long down = (rows + kRows - 1) / kRows, index = blockIdx.x;
  const bool along_x = RASTER == LABEL_along_x;
  const long long row0 = (along_x ? index / across : index % down) * kRows;
  const long long column0 = (along_x ? index % across : index / down) * kColumns;
  read_tile(tile, static_cast<const Element*>(x), row0, column0, rows, columns);
  __syncthreads();
  write_tile(tile, static_cast<Element*>(y), row0, column0, rows, columns);
}
