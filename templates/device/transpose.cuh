// SPDX-License-Identifier: MIT
// A float matrix transposed into another buffer, tile by tile through shared memory.
#pragma once

namespace pgtune {

constexpr int kTransposeTile = 64, kTransposeThreads = 256;

/// out[j][i] = in[i][j] for the 64 x 64 tile at (i0, j0) of a rows x columns matrix; called by 256 threads. Rows of
/// both are aligned to 16 bytes, ld_in is a multiple of 4; what lies between `columns` and ld_in may be read, never
/// used.
__device__ __forceinline__ void transpose_tile(const float* in, float* out, int rows, int columns, long long ld_in,
                                               long long ld_out, int i0, int j0) {
  __shared__ float tile[kTransposeTile][kTransposeTile + 1];
  const int piece = static_cast<int>(threadIdx.x) % 16 * 4, line = static_cast<int>(threadIdx.x) / 16;
#pragma unroll
  for (int r = line; r < kTransposeTile; r += 16) {
    if (i0 + r >= rows || j0 + piece >= columns) continue;
    const float4 four = *reinterpret_cast<const float4*>(in + (i0 + r) * ld_in + j0 + piece);
    tile[r][piece] = four.x, tile[r][piece + 1] = four.y, tile[r][piece + 2] = four.z, tile[r][piece + 3] = four.w;
  }
  __syncthreads();
#pragma unroll
  for (int r = line; r < kTransposeTile; r += 16) {
    if (j0 + r >= columns) continue;
    float* const to = out + (j0 + r) * ld_out + i0 + piece;
    if (i0 + piece + 4 <= rows) {
      *reinterpret_cast<float4*>(to) =
          make_float4(tile[piece][r], tile[piece + 1][r], tile[piece + 2][r], tile[piece + 3][r]);
    } else {
      for (int e = 0; e < 4 && i0 + piece + e < rows; ++e) to[e] = tile[piece + e][r];
    }
  }
}

}  // namespace pgtune
