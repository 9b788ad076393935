// SPDX-License-Identifier: MIT
// Threads that share a row: combining a value of each. Wants the macros THREADS_PER_ROW, a power of two, and
// ROWS_PER_CTA; the CTA has THREADS_PER_ROW * ROWS_PER_CTA threads.
#pragma once

namespace pgtune {

constexpr int kThreadsPerRow = THREADS_PER_ROW, kRowsPerCta = ROWS_PER_CTA;
constexpr int kLanes = kThreadsPerRow < 32 ? kThreadsPerRow : 32;  // of a warp that share a row
constexpr int kWarpsPerRow = kThreadsPerRow / kLanes;

struct Maximum {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

/// The combination over the threads of this thread's row, in all of them. Called by all threads of the CTA where a row
/// has more than a warp.
template <typename Combine>
__device__ __forceinline__ float combine_row(float value, Combine combine) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  if constexpr (kWarpsPerRow > 1) {
    __shared__ float partial[kRowsPerCta][kWarpsPerRow];
    const int group = threadIdx.x / kThreadsPerRow, warp = threadIdx.x % kThreadsPerRow / 32;
    __syncthreads();  // whoever still reads the last combination
    if (threadIdx.x % 32 == 0) partial[group][warp] = value;
    __syncthreads();
    value = partial[group][0];
#pragma unroll
    for (int i = 1; i < kWarpsPerRow; ++i) value = combine(value, partial[group][i]);
  }
  return value;
}

}  // namespace pgtune
