// SPDX-License-Identifier: MIT
// A matrix of bytes transposed into another buffer, tile by tile through shared memory.
#pragma once

namespace pgtune {

constexpr int kByteTile = 128, kByteTileThreads = 256;

/// out[j][i] = in[i][j] for the 128 x 128 tile at (i0, j0) of a rows x columns matrix; called by 256 threads. Rows of
/// both are aligned to 4 bytes; what lies between their ends and the next row may be read, and written in `out`.
__device__ __forceinline__ void transpose_byte_tile(const unsigned char* in, unsigned char* out, int rows, int columns,
                                                    long long ld_in, long long ld_out, int i0, int j0) {
  constexpr int kWords = kByteTile / 4;
  __shared__ unsigned tile[kByteTile][kWords + 1];
  const int thread = static_cast<int>(threadIdx.x);
  // A thread turns blocks of 4 x 4 bytes.
#pragma unroll
  for (int block = thread; block < kWords * kWords; block += kByteTileThreads) {
    const int down = block / kWords * 4, across = block % kWords * 4;
    unsigned line[4] = {};
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      if (i0 + down + r < rows && j0 + across < columns) {
        line[r] = *reinterpret_cast<const unsigned*>(in + (i0 + down + r) * ld_in + j0 + across);
      }
    }
    const unsigned low01 = __byte_perm(line[0], line[1], 0x5140), low23 = __byte_perm(line[2], line[3], 0x5140);
    const unsigned high01 = __byte_perm(line[0], line[1], 0x7362), high23 = __byte_perm(line[2], line[3], 0x7362);
    tile[across][down / 4] = __byte_perm(low01, low23, 0x5410);
    tile[across + 1][down / 4] = __byte_perm(low01, low23, 0x7632);
    tile[across + 2][down / 4] = __byte_perm(high01, high23, 0x5410);
    tile[across + 3][down / 4] = __byte_perm(high01, high23, 0x7632);
  }
  __syncthreads();
#pragma unroll
  for (int word = thread; word < kByteTile * kWords; word += kByteTileThreads) {
    const int j = word / kWords, i = word % kWords * 4;
    if (j0 + j < columns && i0 + i < rows)
      *reinterpret_cast<unsigned*>(out + (j0 + j) * ld_out + i0 + i) = tile[j][i / 4];
  }
}

}  // namespace pgtune
