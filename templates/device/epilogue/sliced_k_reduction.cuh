// SPDX-License-Identifier: MIT
// Sliced-K: groups of a CTA's threads and the CTAs of a cluster compute a tile together, each some of its k-blocks, and
// reduce their accumulators through (distributed) shared memory (sm_90 and newer).
#pragma once

#include "device/epilogue/sgemm_output.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/ptx/tma.cuh"

namespace pgtune {

/// kSlices groups of kThreads threads in each of kCluster CTAs, whose thread tiles are kRows x kColumns. Group s
/// synchronises at named barrier 1 + s, all groups of a CTA at 1 + kSlices. kRingFloats is the size of a group's
/// stages.
template <int kRows, int kColumns, int kSlices, int kCluster, int kThreads, int kRingFloats>
struct SlicedKReduction {
  static constexpr int kAll = kSlices * kThreads;
  static constexpr bool kReduces = kSlices * kCluster > 1;
  static constexpr int kPieces = kRows * kColumns / 4;               ///< of four neighbouring partials of a thread
  static constexpr int kOwnPieces = kPieces / (kSlices * kCluster);  ///< those it finishes
  static constexpr int kRing = kRingFloats / 4;
  static_assert(kPieces % (kSlices * kCluster) == 0, "threads finish the same number of pieces");
  static_assert(!kReduces || kPieces * kThreads <= kRing, "a group's partials go where its stages were");

  /// Returns the number of the j-th piece that a thread of this slice finishes.
  static __device__ __forceinline__ int own_piece(int j, int slice, int rank) {
    return kReduces ? (j * kCluster + rank) * kSlices + slice : j;
  }

  /// Each slice stores its accumulators where its stages were. A thread then adds the pieces that it finishes, first
  /// those of this CTA, then those of the cluster, always in the same order. `partials` and `finished` are barriers on
  /// which each CTA of the cluster arrives; when the second completes, in all CTAs at once, the stages may be filled
  /// again.
  static __device__ __forceinline__ void add(const float (&acc)[kRows][kColumns], float4 (&own)[kOwnPieces],
                                             float* rings, int rank, unsigned partials, unsigned finished,
                                             unsigned parity) {
    const int index = thread_index(), slice = index / kThreads;
    float4* const ring = reinterpret_cast<float4*>(rings) + index % kThreads;
    named_barrier_sync<kThreads>(1 + slice);
#pragma unroll
    for (int s = 0; s < kPieces; ++s) ring[slice * kRing + s * kThreads] = piece(acc, s);
    named_barrier_sync<kAll>(1 + kSlices);
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
      if constexpr (kSlices > 1) named_barrier_sync<kAll>(1 + kSlices);
      if (threadIdx.x == 0) mbarrier_arrive_cluster(partials, kCluster);
      mbarrier_wait_cluster(partials, parity);
#pragma unroll
      for (int j = 0; j < kOwnPieces; ++j) own[j] = make_float4(0, 0, 0, 0);
#pragma unroll
      for (int other = 0; other < kCluster; ++other) {
        const unsigned there = map_shared_address(shared_address(ring), other);
#pragma unroll
        for (int j = 0; j < kOwnPieces; ++j) {
          pgtune::add(own[j], load_shared_cluster(there + own_piece(j, slice, rank) * kThreads * sizeof(float4)));
        }
      }
    }
    fence_proxy_async();
    named_barrier_sync<kAll>(1 + kSlices);
    if (threadIdx.x == 0) mbarrier_arrive_cluster(finished, kCluster);
  }
};

}  // namespace pgtune
