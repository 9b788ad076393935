// SPDX-License-Identifier: MIT
// A product of operands with block scales in float64: a block computes 16 x 16 elements.
#include "block_scaled_fill.cuh"

extern "C" __global__ void gemm_block_scaled(const void* a, const float* sa, const void* b, const float* sb, double* d,
                                             float* scale, i64 rows, i64 columns, i64 depth, i64 ld_sa) {
  const i64 first_row = blockIdx.x * 16, first_column = blockIdx.y * 16;
  const i64 row = first_row + threadIdx.y, column = first_column + threadIdx.x;
  ScaledSum sum;
  add_scaled_products(sum, true, a, TYPE_A, sa, ld_sa, b, TYPE_B, sb, 0, 0, first_row, first_column, rows, columns,
                      depth);
  if (row >= rows || column >= columns) return;
  d[row * columns + column] = sum.value;
  scale[row * columns + column] = static_cast<float>(sum.size);
}
