// SPDX-License-Identifier: MIT
// Sums of a tile that several workers compute along K (stream-K, split-K), by way of global memory. Whoever has the
// start of the tile adds the others' sums to its own in their order, in every run the same.
#pragma once

#include "device/ptx/global_flag.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/scheduler/tile_work.cuh"

namespace pgtune {

/// Where in the workspace the sums of one of a worker's groups of kThreads threads lie, kCount a thread, and the flag
/// that says so. kFirst: the group is the CTA's first threads.
template <int kCount, int kThreads = 128, bool kFirst = false>
struct SharedSums {
  static constexpr int kGroupFours = kCount / 4 * kThreads;

  float4* sums;     ///< of worker 0
  unsigned* flags;  ///< of worker 0
  int groups;       ///< of a worker
  int barrier;      ///< named, of this group

  static __device__ __forceinline__ int place() { return kFirst ? thread_index() : thread_index() % kThreads; }

  __device__ __forceinline__ float4* of(int worker) const {
    return sums + static_cast<long long>(worker) * groups * kGroupFours + place();
  }

  /// Writes a worker's sums; returns when all of the group's have been written.
  __device__ __forceinline__ void write(const float* own, int worker) const {
    float4* const to = of(worker);
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      __stcg(to + i / 4 * kThreads, make_float4(own[i], own[i + 1], own[i + 2], own[i + 3]));
    __threadfence();
    sync_threads<kThreads>(barrier);
  }

  /// Hands the sums of a worker's first segment, which does not start its tile, to the one that does.
  __device__ __forceinline__ void give(const float* own, int worker) const {
    write(own, worker);
    if ((kFirst ? static_cast<int>(threadIdx.x) : place()) == 0) raise_flag(flags + worker * groups);
  }

  /// Adds what the next workers have of a segment's tile.
  __device__ __forceinline__ void collect(float* own, const TileWork& work, const Segment& segment, int worker) const {
    const int end = (segment.tile + 1) * work.blocks;
    int others = 1;
    while (work.cut(worker + others) < end) ++others;
    for (int i = 1 + place(); i < others; i += kThreads) await_flag(flags + (worker + i) * groups);
    sync_threads<kThreads>(barrier);
#pragma unroll 1
    for (int other = worker + 1; other < worker + others; ++other) {
      const float4* const from = of(other);
#pragma unroll
      for (int i = 0; i < kCount; i += 4) {
        const float4 four = __ldcg(from + i / 4 * kThreads);
        own[i] += four.x, own[i + 1] += four.y, own[i + 2] += four.z, own[i + 3] += four.w;
      }
    }
  }
};

template <int kCount>
struct WholeSums {
  SharedSums<kCount> places;

  __device__ __forceinline__ void give(const int* own, int worker) const {
    float bits[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) bits[i] = __int_as_float(own[i]);
    places.give(bits, worker);
  }

  /// Adds what the next workers have of a segment's tile.
  __device__ __forceinline__ void collect(int* own, const TileWork& work, const Segment& segment, int worker) const {
    int last = worker + 1;
    while (work.cut(last + 1) < (segment.tile + 1) * work.blocks) ++last;
    for (int i = worker + 1 + places.place(); i <= last; i += 128) await_flag(places.flags + i * places.groups);
    sync_threads<128>(places.barrier);
#pragma unroll 1
    for (int other = worker + 1; other <= last; ++other) {
#pragma unroll
      for (int i = 0; i < kCount; i += 4) {
        const int4 four = __ldcg(reinterpret_cast<const int4*>(places.of(other) + i / 4 * 128));
        own[i] += four.x, own[i + 1] += four.y, own[i + 2] += four.z, own[i + 3] += four.w;
      }
    }
  }
};

}  // namespace pgtune
