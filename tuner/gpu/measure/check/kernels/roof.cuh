// SPDX-License-Identifier: MIT
// Copies memory as fast as it goes: the roof of operations that memory bounds.
#pragma once

#include "kernels/integers.cuh"

// A block takes a piece of 256 threads times kInFlight words of 16 bytes, all of them loaded before any is stored.
template <int kInFlight, bool kStreaming>
__device__ inline void copy_piece(const uint4* from, uint4* to, i64 words) {
  const i64 first = i64{blockIdx.x} * blockDim.x * kInFlight + threadIdx.x;
  uint4 values[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const i64 at = first + i64{i} * blockDim.x;
    if (at < words) values[i] = kStreaming ? __ldcs(from + at) : from[at];
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const i64 at = first + i64{i} * blockDim.x;
    if (at >= words) continue;
    if (kStreaming) {
      __stcs(to + at, values[i]);
    } else {
      to[at] = values[i];
    }
  }
}

extern "C" __global__ void copy_words2(const uint4* from, uint4* to, i64 words) {
  copy_piece<2, false>(from, to, words);
}
extern "C" __global__ void copy_words4(const uint4* from, uint4* to, i64 words) {
  copy_piece<4, false>(from, to, words);
}
extern "C" __global__ void copy_words4_streaming(const uint4* from, uint4* to, i64 words) {
  copy_piece<4, true>(from, to, words);
}
extern "C" __global__ void copy_words8_streaming(const uint4* from, uint4* to, i64 words) {
  copy_piece<8, true>(from, to, words);
}
