// SPDX-License-Identifier: MIT
// SharedSums of integers, which lie in the same places bit by bit.
#pragma once

#include "device/shared_sums.cuh"

namespace pgtune {

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
