// SPDX-License-Identifier: MIT
// The kernels that fill the buffers A and B, and their scales SA and SB.
#pragma once

#include "block_scales.cuh"

/// A thread for each block of a row; blocks along K are blockIdx.y.
extern "C" __global__ void quantise_rows(void* a, float* sa, i64 rows, i64 columns, i64 ld_sa, i64 matrices, u64 seed) {
  const i64 row = blockIdx.x * blockDim.x + threadIdx.x, block = blockIdx.y;
  if (row >= rows) return;
  for (i64 matrix = blockIdx.z; matrix < matrices; matrix += gridDim.z)
    sa[(matrix * gridDim.y + block) * ld_sa + row] =
        quantise_row(a, TYPE_A, matrix * rows + row, block * kScaleBlock, columns, seed);
}

/// 256 threads for each block of 128 x 128; blockIdx.x counts along a matrix' rows.
extern "C" __global__ void quantise_blocks(void* b, float* sb, i64 rows, i64 columns, i64 matrices, u64 seed) {
  for (i64 matrix = blockIdx.z; matrix < matrices; matrix += gridDim.z) {
    const float scale = quantise_block(b, TYPE_B, matrix * rows * columns, blockIdx.x * kScaleBlock,
                                       blockIdx.y * kScaleBlock, rows, columns, seed);
    if (threadIdx.x == 0) sb[(matrix * gridDim.x + blockIdx.x) * gridDim.y + blockIdx.y] = scale;
  }
}
