// SPDX-License-Identifier: MIT
// Results of launches on the same operands against each other.
#pragma once

#include "kernels/integers.cuh"

// Order-free checksum of D's elements, without the padding between columns and ld: a wrapping sum of mixed (position,
// bits) pairs. `element` is of 1, 2 or 4 bytes.
extern "C" __global__ void sum_result(const unsigned char* d, i64 element, i64 rows, i64 columns, i64 ld, u64* sum) {
  u64 local = 0;
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
#pragma unroll 1
    for (i64 column = threadIdx.x; column < columns; column += blockDim.x) {
      const unsigned char* const at = d + (row * ld + column) * element;
      const u32 bits = element == 4   ? *reinterpret_cast<const u32*>(at)
                       : element == 2 ? *reinterpret_cast<const unsigned short*>(at)
                                      : *at;
      const u64 i = static_cast<u64>(row * columns + column);
      local += mix((i << 32 ^ i >> 32) + bits + 0x9e3779b97f4a7c15ull);
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) local += __shfl_down_sync(0xffffffffu, local, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, local);
}

// Writes what is there: leaves the caches as poisoning does and the contents as they are.
extern "C" __global__ void rewrite(unsigned char* first, i64 bytes) {
  volatile u32* const words = reinterpret_cast<u32*>(first);
#pragma unroll 1
  for (i64 i = global_thread(); i < bytes / 4; i += thread_count()) words[i] = words[i];
}
