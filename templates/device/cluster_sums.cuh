// SPDX-License-Identifier: MIT
// Sums of a tile that the CTAs of a cluster compute along K, added up by way of each other's shared memory: each CTA
// finishes a slice of the tile's columns and is sent the others' sums of it (sm_90 and newer).
#pragma once

#include "device/cluster.cuh"
#include "device/mbarrier.cuh"
#include "device/special_registers.cuh"

namespace pgtune {

/// Says once, after its barriers are initialised, that this CTA may be sent sums; all threads of a warp together.
__device__ __forceinline__ void announce_to_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
/// Waits until all CTAs of the cluster have done so.
__device__ __forceinline__ void await_cluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/// kRanks CTAs, for each thread of a warpgroup kInstructions x kSums sums, of which a CTA finishes every kRanks-th.
template <int kRanks, int kInstructions, int kSums>
struct ClusterSums {
  static constexpr int kSlice = kSums / kRanks;  ///< columns of sums[i] of a slice
  static constexpr int kPieces = kInstructions * kSlice / 4;
  static constexpr int kPartBytes = kPieces * 128 * 16;     ///< from one warpgroup of another CTA
  static constexpr int kBytes = (kRanks - 1) * kPartBytes;  ///< of shared memory, for each warpgroup
  static_assert(kSlice % 4 == 0, "sums are sent in pieces of four");

  using Sums = float[kInstructions][kSums];
  using Slice = float[kInstructions][kSlice];

  /// Sends the other CTAs this warpgroup's sums of their slices and adds to its own what they send. `parts` and
  /// `given` are where this warpgroup's of every CTA is sent its sums, and the barrier that counts their bytes; for one
  /// time only.
  static __device__ __forceinline__ void exchange(Slice& own, const Sums& sums, unsigned parts, unsigned given,
                                                  unsigned rank) {
    const unsigned thread_at = thread_index() % 128 * 16;
#pragma unroll
    for (unsigned to = 0; to < kRanks; ++to) {
      if (to == rank) {
#pragma unroll
        for (int i = 0; i < kInstructions * kSlice; ++i) {
          own[i / kSlice][i % kSlice] = sums[i / kSlice][to * kSlice + i % kSlice];
        }
      } else {
        const unsigned slot = rank < to ? rank : rank - 1;
        const unsigned there = shared_address_at(parts + slot * kPartBytes + thread_at, to);
        const unsigned barrier = shared_address_at(given, to);
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) {
          const float* const four = &sums[piece * 4 / kSlice][to * kSlice + piece * 4 % kSlice];
          asm volatile(
              "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                  there + piece * 2048),
              "f"(four[0]), "f"(four[1]), "f"(four[2]), "f"(four[3]), "r"(barrier)
              : "memory");
        }
      }
    }
    barrier_wait_cluster(given, 0);
#pragma unroll
    for (int slot = 0; slot < kRanks - 1; ++slot) {
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) {
        float four[4];
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(four[0]), "=f"(four[1]), "=f"(four[2]), "=f"(four[3])
                     : "r"(parts + slot * kPartBytes + thread_at + piece * 2048)
                     : "memory");
#pragma unroll
        for (int e = 0; e < 4; ++e) own[piece * 4 / kSlice][piece * 4 % kSlice + e] += four[e];
      }
    }
  }
};

}  // namespace pgtune
