// SPDX-License-Identifier: MIT
// The products of groups that have some of their rows, of operands with block scales, in float64: a block computes 16 x
// 16 elements of a group.
#include "block_scaled_fill.cuh"
#include "grouped_rows.cuh"

extern "C" __global__ void vary_rows(int* rows, i64 groups, i64 mean, i64 most, u64 seed) {
  vary_rows_about(rows, groups, mean, most, seed);
}

extern "C" __global__ void set_rows(int* rows, i64 groups, i64 whom, i64 own, i64 others) {
  for (i64 group = 0; group < groups; ++group) rows[group] = static_cast<int>(group == whom ? own : others);
}

// Rows that a group has not are 0 with a negative scale: nobody judges them.
extern "C" __global__ void gemm_masked_block_scaled(const int* rows, const void* a, const float* sa, const void* b,
                                                    const float* sb, double* d, float* scale, i64 capacity, i64 columns,
                                                    i64 depth, i64 ld_sa) {
  const i64 group = blockIdx.z, first_row = blockIdx.x * 16, first_column = blockIdx.y * 16;
  const i64 row = first_row + threadIdx.y, column = first_column + threadIdx.x;
  const i64 blocks = (depth + kScaleBlock - 1) / kScaleBlock, blocks_n = (columns + kScaleBlock - 1) / kScaleBlock;
  const bool own = row < rows[group];
  ScaledSum sum;
  if (first_row < rows[group])
    add_scaled_products(sum, own, static_cast<const char*>(a) + group * capacity * depth * element_bytes(TYPE_A),
                        TYPE_A, sa + group * blocks * ld_sa, ld_sa, b, TYPE_B, sb, group * columns * depth,
                        group * blocks_n * blocks, first_row, first_column, capacity, columns, depth);
  if (row >= capacity || column >= columns) return;
  const i64 at = (group * capacity + row) * columns + column;
  d[at] = sum.value;
  scale[at] = own ? static_cast<float>(sum.size) : -1.0f;
}
