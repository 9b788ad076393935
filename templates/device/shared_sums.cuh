// SPDX-License-Identifier: MIT
// Sums of a tile that several workers compute along K (stream-K, split-K), by way of global memory. Whoever has the
// start of the tile adds the others' sums to its own in their order, in every run the same.
#pragma once

#include "device/special_registers.cuh"
#include "device/stream_k.cuh"

namespace pgtune {

__device__ __forceinline__ void sync_warpgroup(int barrier) {
  asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory");
}

/// Where in the workspace the sums of one of a worker's warpgroups lie, kCount a thread, and the flag that says so.
template <int kCount>
struct SharedSums {
  float4* sums;     ///< of worker 0
  unsigned* flags;  ///< of worker 0
  int groups;       ///< warpgroups of a worker
  int barrier;      ///< named, of this warpgroup

  __device__ __forceinline__ float4* of(int worker) const {
    return sums + static_cast<long long>(worker) * groups * (kCount / 4 * 128) + thread_index() % 128;
  }

  /// Hands the sums of a worker's first segment, which does not start its tile, to the one that does.
  __device__ __forceinline__ void give(const float* own, int worker) const {
    float4* const to = of(worker);
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      __stcg(to + i / 4 * 128, make_float4(own[i], own[i + 1], own[i + 2], own[i + 3]));
    __threadfence();
    sync_warpgroup(barrier);
    if (thread_index() % 128 == 0) raise_flag(flags + worker * groups);
  }

  /// Adds what the next workers have of a segment's tile.
  __device__ __forceinline__ void collect(float* own, const TileWork& work, const Segment& segment, int worker) const {
    const int end = (segment.tile + 1) * work.blocks;
    int others = 1;
    while (work.cut(worker + others) < end) ++others;
    for (int i = 1 + thread_index() % 128; i < others; i += 128) await_flag(flags + (worker + i) * groups);
    sync_warpgroup(barrier);
#pragma unroll 1
    for (int other = worker + 1; other < worker + others; ++other) {
      const float4* const from = of(other);
#pragma unroll
      for (int i = 0; i < kCount; i += 4) {
        const float4 four = __ldcg(from + i / 4 * 128);
        own[i] += four.x, own[i + 1] += four.y, own[i + 2] += four.z, own[i + 3] += four.w;
      }
    }
  }
};

}  // namespace pgtune
