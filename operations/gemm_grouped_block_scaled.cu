// SPDX-License-Identifier: MIT
// The products of groups of rows of operands with block scales in float64: a block computes 16 x 16 elements, one group
// that has rows there after the other.
#include "block_scaled_fill.cuh"
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

extern "C" __global__ void gemm_grouped_block_scaled(const int* offsets, const void* a, const float* sa, const void* b,
                                                     const float* sb, double* d, float* scale, i64 groups, i64 rows,
                                                     i64 columns, i64 depth, i64 ld_sa) {
  const i64 first_row = blockIdx.x * 16, first_column = blockIdx.y * 16;
  const i64 row = first_row + threadIdx.y, column = first_column + threadIdx.x;
  const i64 scales = (columns + kScaleBlock - 1) / kScaleBlock * ((depth + kScaleBlock - 1) / kScaleBlock);
  ScaledSum sum;
  for (i64 group = 0; group < groups; ++group) {
    if (offsets[group + 1] <= first_row || offsets[group] >= first_row + 16) continue;
    const bool own = row >= offsets[group] && row < offsets[group + 1];
    add_scaled_products(sum, own, a, TYPE_A, sa, ld_sa, b, TYPE_B, sb, group * columns * depth, group * scales,
                        first_row, first_column, rows, columns, depth);
  }
  if (row >= rows || column >= columns) return;
  d[row * columns + column] = sum.value;
  scale[row * columns + column] = static_cast<float>(sum.size);
}
