// SPDX-License-Identifier: MIT
// The products of groups that have some of their rows, in float64: a block computes 16 x 16 elements of a group.
#include "grouped_rows.cuh"

extern "C" __global__ void vary_rows(int* rows, i64 groups, i64 mean, i64 most, u64 seed) {
  vary_rows_about(rows, groups, mean, most, seed);
}

extern "C" __global__ void set_rows(int* rows, i64 groups, i64 whom, i64 own, i64 others) {
  for (i64 group = 0; group < groups; ++group) rows[group] = static_cast<int>(group == whom ? own : others);
}

// The scale of an element is the sum of its products' magnitudes. Rows that a group has not are 0 with a negative
// scale: nobody judges them.
extern "C" __global__ void gemm_masked(const int* rows, const void* a, const void* b, double* d, float* scale,
                                       i64 capacity, i64 columns, i64 depth) {
  __shared__ double tile_a[16][17], tile_b[16][17];
  const i64 group = blockIdx.z, first_row = blockIdx.x * 16, first_column = blockIdx.y * 16;
  const i64 row = first_row + threadIdx.y, column = first_column + threadIdx.x,
            column_of_b = first_column + threadIdx.y;
  const bool own = row < rows[group];
  double sum = 0, size = 0;
  for (i64 first = 0; first_row < rows[group] && first < depth; first += 16) {
    const i64 k = first + threadIdx.x;
    const bool inside = k < depth;
    tile_a[threadIdx.y][threadIdx.x] =
        inside && own ? load_element(a, (group * capacity + row) * depth + k, TYPE_A) : 0;
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
  if (row >= capacity || column >= columns) return;
  const i64 at = (group * capacity + row) * columns + column;
  d[at] = sum;
  scale[at] = own ? static_cast<float>(size) : -1.0f;
}
