// SPDX-License-Identifier: MIT
// Operands: made from a seed, and copied to other strides.
#pragma once

#include "kernels/elements.cuh"

// Numbered as pgtune::DataDistribution.
enum Distribution { kUniform, kNormal, kIntegers, kZeros };

__device__ inline float data_value(u64 bits, int distribution) {
  switch (distribution) {
    case kUniform:  // [-1, 1) on a grid of 2^-23
      return static_cast<float>(static_cast<int>(bits >> 40) - (1 << 23)) * 0x1p-23f;
    case kNormal: {  // Box and Muller 1958: the radius from the upper bits, in (0, 1], the angle from the lower
      const float radius = static_cast<float>((bits >> 40) + 1) * 0x1p-24f;
      const float angle = static_cast<float>(bits & 0xffffff) * 0x1p-23f;
      return sqrtf(-2.0f * logf(radius)) * cospif(angle);
    }
    case kIntegers:  // -4 ... 4
      return static_cast<float>(static_cast<int>((bits >> 32) * 9 >> 32) - 4);
    default:
      return 0;
  }
}

// The same data in an integer type, on -range ... range - 1: uniform data fill it, normal data have a quarter of it as
// their deviation and are cut off at its ends, and integers stay what they are. `range` as in
// pgtune::ElementTraits::data_range.
__device__ inline float whole_number(float value, int distribution, float range) {
  if (distribution == kUniform) return floorf(value * range);
  if (distribution == kNormal) return fminf(fmaxf(rintf(value * range / 4), -range), range - 1);
  return value;
}

// Layout of HelperKernels::ByteMatrix.
struct ByteMatrix {
  unsigned char* elements;
  i64 row, column, batch;  // strides
};

// A matrix of bytes into one stored row by row, through a tile: neighbouring threads touch neighbouring bytes on both
// sides. The columns of elements that are wider than a byte are several here.
extern "C" __global__ void copy_matrix(ByteMatrix from, ByteMatrix to, i64 rows, i64 columns, i64 batches) {
  constexpr int kTile = 32;
  __shared__ unsigned char tile[kTile][kTile + 4];
  const int x = threadIdx.x % kTile, first = threadIdx.x / kTile, step = blockDim.x / kTile;
  const i64 tiles = (columns + kTile - 1) / kTile;
  const i64 row0 = blockIdx.x / tiles * kTile, column0 = blockIdx.x % tiles * kTile;
  for (i64 batch = blockIdx.y; batch < batches; batch += gridDim.y) {
    for (int y = first; y < kTile; y += step) {
      const int row = from.column == 1 ? y : x, column = from.column == 1 ? x : y;
      if (row0 + row < rows && column0 + column < columns) {
        tile[row][column] =
            from.elements[batch * from.batch + (row0 + row) * from.row + (column0 + column) * from.column];
      }
    }
    __syncthreads();
    for (int y = first; y < kTile; y += step) {
      if (row0 + y < rows && column0 + x < columns) {
        to.elements[batch * to.batch + (row0 + y) * to.row + column0 + x] = tile[y][x];
      }
    }
    __syncthreads();
  }
}
