// SPDX-License-Identifier: MIT
// The sums of a tile that groups of a CTA's threads and the CTAs of a cluster compute together, each some of the
// k-blocks, added through (distributed) shared memory (sm_90 and newer).
#pragma once

#include "device/epilogue/sgemm_output.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/ptx/tma.cuh"

namespace pgtune {

/// kSlices groups of kThreads threads in each of kCluster CTAs, whose thread tiles are kRows x kColumns. Group s meets
/// at named barrier 1 + s, all groups of a CTA at 1 + kSlices. kRingFloats is what a group's stages take up.
template <int kRows, int kColumns, int kSlices, int kCluster, int kThreads, int kRingFloats>
struct SliceSums {
  static constexpr int kAll = kSlices * kThreads;
  static constexpr bool kAdds = kSlices * kCluster > 1;
  static constexpr int kPieces = kRows * kColumns / 4;               ///< of four neighbouring sums of a thread
  static constexpr int kOwnPieces = kPieces / (kSlices * kCluster);  ///< those it finishes
  static constexpr int kRing = kRingFloats / 4;
  static_assert(kPieces % (kSlices * kCluster) == 0, "threads finish the same number of pieces");
  static_assert(!kAdds || kPieces * kThreads <= kRing, "a group's sums go where its stages were");

  /// The number of the j-th piece that a thread of this slice finishes.
  static __device__ __forceinline__ int own_piece(int j, int slice, int rank) {
    return kAdds ? (j * kCluster + rank) * kSlices + slice : j;
  }

  /// Each slice leaves its sums where its ring was; a thread adds the pieces of its own, first those of this CTA, then
  /// those of the cluster, always in the same order. `sums` and `finished` are barriers on which each CTA of the
  /// cluster arrives: when the second completes, in all CTAs at once, rings may be filled again.
  static __device__ __forceinline__ void add(const float (&acc)[kRows][kColumns], float4 (&own)[kOwnPieces],
                                             float* rings, int rank, unsigned sums, unsigned finished,
                                             unsigned parity) {
    const int index = thread_index(), slice = index / kThreads;
    float4* const ring = reinterpret_cast<float4*>(rings) + index % kThreads;
    sync_threads<kThreads>(1 + slice);
#pragma unroll
    for (int s = 0; s < kPieces; ++s) ring[slice * kRing + s * kThreads] = piece(acc, s);
    sync_threads<kAll>(1 + kSlices);
    if constexpr (kSlices > 1) {
#pragma unroll
      for (int j = 0; j < kPieces / kSlices; ++j) {
        const int at = (j * kSlices + slice) * kThreads;
        float4 sum = ring[at];
#pragma unroll
        for (int s = 1; s < kSlices; ++s) pgtune::add(sum, ring[s * kRing + at]);
        if constexpr (kCluster == 1) {
          own[j] = sum;
        } else {
          ring[at] = sum;
        }
      }
    }
    if constexpr (kCluster > 1) {
      if constexpr (kSlices > 1) sync_threads<kAll>(1 + kSlices);
      if (threadIdx.x == 0) barrier_arrive_everywhere(sums, kCluster);
      barrier_wait_cluster(sums, parity);
#pragma unroll
      for (int j = 0; j < kOwnPieces; ++j) own[j] = make_float4(0, 0, 0, 0);
#pragma unroll
      for (int other = 0; other < kCluster; ++other) {
        const unsigned there = shared_address_at(shared_address(ring), other);
#pragma unroll
        for (int j = 0; j < kOwnPieces; ++j) {
          pgtune::add(own[j], load_at(there + own_piece(j, slice, rank) * kThreads * sizeof(float4)));
        }
      }
    }
    async_fence();
    sync_threads<kAll>(1 + kSlices);
    if (threadIdx.x == 0) barrier_arrive_everywhere(finished, kCluster);
  }
};

}  // namespace pgtune
