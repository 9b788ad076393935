// SPDX-License-Identifier: MIT
// Sums of a tile that the CTAs of a cluster compute along K, added up by way of each other's shared memory: each CTA
// finishes a slice of the tile's columns and is sent the others' sums of it (sm_90 and newer).
#pragma once

#include "device/cluster.cuh"
#include "device/mbarrier.cuh"
#include "device/sliced_sums.cuh"
#include "device/special_registers.cuh"

namespace pgtune {

/// Says once, after its barriers are initialised, that this CTA may be sent sums; all threads of a warp together.
__device__ __forceinline__ void announce_to_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
/// Waits until all CTAs of the cluster have done so.
__device__ __forceinline__ void await_cluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/// kRanks CTAs, each of which finishes a slice.
template <int kRanks, int kInstructions, int kSums>
struct ClusterSums : SlicedSums<kRanks, kInstructions, kSums> {
  using Base = SlicedSums<kRanks, kInstructions, kSums>;
  static constexpr int kPartBytes = Base::kPieces * 128 * 16;  ///< from one warpgroup of another CTA
  static constexpr int kBytes = (kRanks - 1) * kPartBytes;     ///< of shared memory, for each warpgroup

  /// Sends the other CTAs this warpgroup's sums of their slices and adds to its own what they send. `parts` and
  /// `given` are where this warpgroup's of every CTA is sent its sums, and the barrier that counts their bytes; for one
  /// time only.
  static __device__ __forceinline__ void exchange(typename Base::Slice& own, const typename Base::Sums& sums,
                                                  unsigned parts, unsigned given, unsigned rank) {
    const unsigned thread_at = thread_index() % 128 * 16;
#pragma unroll
    for (unsigned to = 0; to < kRanks; ++to) {
      if (to == rank) {
        Base::keep(own, sums, to);
      } else {
        const unsigned slot = rank < to ? rank : rank - 1;
        const unsigned there = shared_address_at(parts + slot * kPartBytes + thread_at, to);
        const unsigned barrier = shared_address_at(given, to);
#pragma unroll
        for (int i = 0; i < Base::kPieces; ++i) {
          const float4 four = Base::piece(sums, to, i);
          asm volatile(
              "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                  there + i * 2048),
              "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w), "r"(barrier)
              : "memory");
        }
      }
    }
    barrier_wait_cluster(given, 0);
#pragma unroll
    for (int slot = 0; slot < kRanks - 1; ++slot) {
#pragma unroll
      for (int i = 0; i < Base::kPieces; ++i) {
        float4 four;
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
                     : "r"(parts + slot * kPartBytes + thread_at + i * 2048)
                     : "memory");
        Base::add(own, i, four);
      }
    }
  }
};

}  // namespace pgtune
