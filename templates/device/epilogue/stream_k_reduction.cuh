// SPDX-License-Identifier: MIT
// Stream-K: several workers compute a tile along K. The worker with the start of the tile adds the others'
// accumulators, which arrive through the workspace, to its own, in the same order in every run.
#pragma once

#include "device/epilogue/accumulator_slices.cuh"
#include "device/ptx/global_flag.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/scheduler/tile_work.cuh"

namespace pgtune {

/// The workspace of one of a worker's groups of kThreads threads: kCount accumulators of each thread and a flag that
/// says that they are there. kFirst says that the group is the CTA's first threads.
template <int kCount, class Number = float, int kThreads = 128, bool kFirst = false>
struct StreamKReduction {
  static constexpr int kGroupFours = kCount / 4 * kThreads;

  float4* partials;  ///< of worker 0
  unsigned* flags;   ///< of worker 0
  int groups;        ///< of a worker
  int barrier;       ///< named, of this group

  static __device__ __forceinline__ int place() { return kFirst ? thread_index() : thread_index() % kThreads; }

  __device__ __forceinline__ float4* of(int worker) const {
    return partials + static_cast<long long>(worker) * groups * kGroupFours + place();
  }

  /// Writes a worker's accumulators; returns when all threads of the group have written theirs.
  __device__ __forceinline__ void write(const Number* own, int worker) const {
    float4* const to = of(worker);
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      __stcg(to + i / 4 * kThreads,
             make_float4(bits_of(own[i]), bits_of(own[i + 1]), bits_of(own[i + 2]), bits_of(own[i + 3])));
    __threadfence();
    named_barrier_sync<kThreads>(barrier);
  }

  /// Hands the accumulators of a worker's first segment, which does not start its tile, to the worker that has the
  /// start.
  __device__ __forceinline__ void store_partial(const Number* own, int worker) const {
    write(own, worker);
    if ((kFirst ? static_cast<int>(threadIdx.x) : place()) == 0) set_flag(flags + worker * groups);
  }

  /// Adds the next workers' accumulators of a segment's tile.
  __device__ __forceinline__ void add_partials(Number* own, const TileWork& work, const Segment& segment,
                                               int worker) const {
    const int end = (segment.tile + 1) * work.blocks;
    int others = 1;
    while (work.cut(worker + others) < end) ++others;
    for (int i = 1 + place(); i < others; i += kThreads) wait_flag(flags + (worker + i) * groups);
    named_barrier_sync<kThreads>(barrier);
#pragma unroll 1
    for (int other = worker + 1; other < worker + others; ++other) {
      const float4* const from = of(other);
#pragma unroll
      for (int i = 0; i < kCount; i += 4) {
        const float4 four = __ldcg(from + i / 4 * kThreads);
        add_bits(own[i], four.x), add_bits(own[i + 1], four.y);
        add_bits(own[i + 2], four.z), add_bits(own[i + 3], four.w);
      }
    }
  }
};

}  // namespace pgtune
