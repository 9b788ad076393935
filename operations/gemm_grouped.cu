// SPDX-License-Identifier: MIT
// The products of groups of rows in float64: a block computes 16 x 16 elements, one group that has rows there after the
// other.
#include "grouped_rows.cuh"

extern "C" __global__ void spread_rows(int* offsets, i64 groups, i64 rows, u64 seed) {
  share_rows(offsets, groups, rows, seed);
}

extern "C" __global__ void give_rows_to_one(int* offsets, i64 groups, i64 rows, i64 whom) {
  for (i64 group = 0; group <= groups; ++group) offsets[group] = static_cast<int>(group > whom ? rows : 0);
}

extern "C" __global__ void skip_groups(int* offsets, i64 groups, i64 rows) {
  const i64 shares = (groups + 1) / 2;
  for (i64 group = 0; group <= groups; ++group) offsets[group] = static_cast<int>(rows * ((group + 1) / 2) / shares);
}

// The scale of an element is the sum of its products' magnitudes.
extern "C" __global__ void gemm_grouped(const int* offsets, const void* a, const void* b, double* d, float* scale,
                                        i64 groups, i64 rows, i64 columns, i64 depth) {
  __shared__ double tile_a[16][17], tile_b[16][17];
  const i64 first_row = blockIdx.x * 16, first_column = blockIdx.y * 16;
  const i64 row = first_row + threadIdx.y, column = first_column + threadIdx.x,
            column_of_b = first_column + threadIdx.y;
  double sum = 0, size = 0;
  for (i64 group = 0; group < groups; ++group) {
    if (offsets[group + 1] <= first_row || offsets[group] >= first_row + 16) continue;
    const bool own = row >= offsets[group] && row < offsets[group + 1];
    for (i64 first = 0; first < depth; first += 16) {
      const i64 k = first + threadIdx.x;
      const bool inside = k < depth;
      tile_a[threadIdx.y][threadIdx.x] = inside && row < rows ? load_element(a, row * depth + k, TYPE_A) : 0;
      tile_b[threadIdx.y][threadIdx.x] =
          inside && column_of_b < columns ? load_element(b, (group * columns + column_of_b) * depth + k, TYPE_B) : 0;
      __syncthreads();
      for (int i = 0; own && i < 16; ++i) {
        const double product = tile_a[threadIdx.y][i] * tile_b[threadIdx.x][i];
        sum += product;
        size += fabs(product);
      }
      __syncthreads();
    }
  }
  if (row >= rows || column >= columns) return;
  d[row * columns + column] = sum;
  scale[row * columns + column] = static_cast<float>(size);
}
