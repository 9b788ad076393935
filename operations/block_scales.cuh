// SPDX-License-Identifier: MIT
// Operands of 8-bit floats with a float32 scale for each block, and their products in float64.
#pragma once

#include "operation.cuh"

constexpr i64 kScaleBlock = 128;

/// Of normal numbers whose largest magnitude is `largest`: that one becomes the largest number of e4m3.
__device__ inline float scale_of(float largest) { return fmaxf(largest, 1e-4f) / 448; }

/// Fills the block of 1 x 128 elements of a row from `first` on, as far as the row reaches, and returns its scale. One
/// thread.
__device__ inline float quantise_row(void* to, int type, i64 row, i64 first, i64 columns, u64 seed) {
  const i64 last = first + kScaleBlock < columns ? first + kScaleBlock : columns;
  float largest = 0;
  for (i64 i = first; i < last; ++i) largest = fmaxf(largest, fabsf(random_normal(seed, row * columns + i)));
  const float scale = scale_of(largest);
  for (i64 i = first; i < last; ++i)
    store_element(to, row * columns + i, type, random_normal(seed, row * columns + i) / scale);
  return scale;
}

/// Fills the block of 128 x 128 elements at `row` and `column` of a matrix whose first element has the number `before`,
/// as far as it reaches, and returns its scale. All of 256 threads.
__device__ inline float quantise_block(void* to, int type, i64 before, i64 row, i64 column, i64 rows, i64 columns,
                                       u64 seed) {
  __shared__ float partial[256];
  const i64 high = row + kScaleBlock < rows ? kScaleBlock : rows - row;
  const i64 wide = column + kScaleBlock < columns ? kScaleBlock : columns - column;
  const auto number = [&](i64 i) { return before + (row + i / wide) * columns + column + i % wide; };
  float largest = 0;
  for (i64 i = threadIdx.x; i < high * wide; i += 256) largest = fmaxf(largest, fabsf(random_normal(seed, number(i))));
  __syncthreads();
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (unsigned step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + step]);
    __syncthreads();
  }
  const float scale = scale_of(partial[0]);
  for (i64 i = threadIdx.x; i < high * wide; i += 256)
    store_element(to, number(i), type, random_normal(seed, number(i)) / scale);
  return scale;
}

/// Sums of products, and of their magnitudes.
struct ScaledSum {
  double value = 0, size = 0;
};

/// Adds the product of the block's rows `first_row` to `first_row` + 15 of A and columns from `first_column` on of the
/// matrix of B that begins with element `b_before` and has its scales from `sb_before` on. Threads are 16 x 16;
/// elements of rows that are not `own` are left as they are. Rows of A have the numbers that their scales have.
__device__ inline void add_scaled_products(ScaledSum& sum, bool own, const void* a, int type_a, const float* sa,
                                           i64 ld_sa, const void* b, int type_b, const float* sb, i64 b_before,
                                           i64 sb_before, i64 first_row, i64 first_column, i64 rows, i64 columns,
                                           i64 depth) {
  __shared__ double tile_a[16][17], tile_b[16][17];
  const i64 row = first_row + threadIdx.y, column_of_b = first_column + threadIdx.y;
  const i64 blocks = (depth + kScaleBlock - 1) / kScaleBlock;
  for (i64 first = 0; first < depth; first += 16) {
    const i64 k = first + threadIdx.x, block = first / kScaleBlock;
    const bool inside = k < depth;
    tile_a[threadIdx.y][threadIdx.x] =
        inside && row < rows ? load_element(a, row * depth + k, type_a) * static_cast<double>(sa[row + block * ld_sa])
                             : 0;
    tile_b[threadIdx.y][threadIdx.x] =
        inside && column_of_b < columns
            ? load_element(b, b_before + column_of_b * depth + k, type_b) *
                  static_cast<double>(sb[sb_before + column_of_b / kScaleBlock * blocks + block])
            : 0;
    __syncthreads();
    for (int i = 0; own && i < 16; ++i) {
      const double product = tile_a[threadIdx.y][i] * tile_b[threadIdx.x][i];
      sum.value += product;
      sum.size += fabs(product);
    }
    __syncthreads();
  }
}
