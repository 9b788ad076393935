// SPDX-License-Identifier: MIT
// Packs a float matrix into lines that TMA can read: it transposes what lies along k and copies what does not lie in
// lines at multiples of 16 bytes.
#pragma once

namespace pgtune {

constexpr int kPackTile = 64, kPackThreads = 256;
using PackLine = float[kPackTile + 1];  ///< padded against bank conflicts

/// out[j][i] = in[i][j] for the 64 x 64 tile at (i0, j0) of a rows x columns matrix; called by 256 threads, which share
/// the 64 lines of `tile`. Rows of `out` are aligned to 16 bytes; those of `in` are read four floats at once where they
/// are too, and then what lies between `columns` and ld_in may be read, never used.
__device__ __forceinline__ void transpose_tile(PackLine* tile, const float* in, float* out, int rows, int columns,
                                               long long ld_in, long long ld_out, int i0, int j0) {
  const int piece = static_cast<int>(threadIdx.x) % 16 * 4, line = static_cast<int>(threadIdx.x) / 16;
  if (ld_in % 4 == 0) {
#pragma unroll
    for (int r = line; r < kPackTile; r += 16) {
      if (i0 + r >= rows || j0 + piece >= columns) continue;
      const float4 four = *reinterpret_cast<const float4*>(in + (i0 + r) * ld_in + j0 + piece);
      tile[r][piece] = four.x, tile[r][piece + 1] = four.y, tile[r][piece + 2] = four.z, tile[r][piece + 3] = four.w;
    }
  } else {
    const int column = static_cast<int>(threadIdx.x) % kPackTile;
#pragma unroll
    for (int r = static_cast<int>(threadIdx.x) / kPackTile; r < kPackTile; r += kPackThreads / kPackTile) {
      if (i0 + r < rows && j0 + column < columns) tile[r][column] = in[(i0 + r) * ld_in + j0 + column];
    }
  }
  __syncthreads();
#pragma unroll
  for (int r = line; r < kPackTile; r += 16) {
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

/// The same with a static tile of its own in shared memory.
__device__ __forceinline__ void transpose_tile(const float* in, float* out, int rows, int columns, long long ld_in,
                                               long long ld_out, int i0, int j0) {
  __shared__ PackLine tile[kPackTile];
  transpose_tile(tile, in, out, rows, columns, ld_in, ld_out, i0, j0);
}

/// out[i][j] = in[i][j] for the 64 x 64 tile at (i0, j0) of a rows x columns matrix, with any leading dimensions;
/// called by 256 threads.
__device__ __forceinline__ void copy_tile(const float* in, float* out, int rows, int columns, long long ld_in,
                                          long long ld_out, int i0, int j0) {
  constexpr int kStep = kPackThreads / kPackTile;
  const int j = j0 + static_cast<int>(threadIdx.x) % kPackTile;
  const int first = i0 + static_cast<int>(threadIdx.x) / kPackTile;
  if (j >= columns) return;
  float value[kPackTile /
              kStep];  // all reads before the first write, which they might overlap for all the compiler knows
#pragma unroll
  for (int r = 0; r < kPackTile / kStep; ++r) {
    if (first + r * kStep < rows) value[r] = in[(first + r * kStep) * ld_in + j];
  }
#pragma unroll
  for (int r = 0; r < kPackTile / kStep; ++r) {
    if (first + r * kStep < rows) out[(first + r * kStep) * ld_out + j] = value[r];
  }
}

}  // namespace pgtune
