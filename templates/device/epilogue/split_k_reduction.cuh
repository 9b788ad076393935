// SPDX-License-Identifier: MIT
// Split-K: several CTAs compute a tile along K, and each, or each of the first of them, finishes a slice of the tile's
// columns. They exchange the other slices' accumulators through the workspace, or, in a cluster, through distributed
// shared memory (sm_90 and newer). They add them in the order of K, wherever a slice lies in the tile.
#pragma once

#include "device/epilogue/accumulator_slices.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/global_flag.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/special_registers.cuh"

namespace pgtune {

/// The reduction through the workspace, for kParts workers that all run at a time, of which the first kSlices finish a
/// slice each.
template <int kParts, int kSlices, int kInstructions, int kAccumulators, class Number>
struct SplitKReduction : AccumulatorSlices<kSlices, kInstructions, kAccumulators, Number> {
  using Base = AccumulatorSlices<kSlices, kInstructions, kAccumulators, Number>;
  static constexpr int kSliceFours = Base::kPieces * 128;        ///< from one of a tile's workers to another
  static constexpr int kFours = kSlices * kParts * kSliceFours;  ///< of the workspace, for each tile and warpgroup
  static constexpr int kAtATime = kParts < 16 ? kParts : 16;     ///< other workers' pieces that are loaded
  static_assert(kSlices == kParts ? (kParts & (kParts - 1)) == 0 : kSlices < kParts, "see arrive_and_wait()");

  /// Writes this warpgroup's accumulators of the others' slices, and adds what the others have written to its own
  /// slice. Returns whether it has one. `partials` has kFours for this tile and warpgroup, `count` is their counter for
  /// arrive_and_wait() or arrive(), `barrier` is the warpgroup's named barrier.
  static __device__ __forceinline__ bool exchange(typename Base::Slice& own, const typename Base::Accumulators& acc,
                                                  float4* partials, unsigned* count, int part, int barrier) {
    float4* const at = partials + thread_index() % 128;
#pragma unroll
    for (int to = 0; to < kSlices; ++to) {
      if (to == part) {
        Base::keep(own, acc, to);
      } else {
#pragma unroll
        for (int i = 0; i < Base::kPieces; ++i) {
          __stcg(at + (to * kParts + part) * kSliceFours + i * 128, Base::piece(acc, to, i));
        }
      }
    }
    __threadfence();
    named_barrier_sync<128>(barrier);
    if constexpr (kSlices == kParts) {
      if (thread_index() % 128 == 0) arrive_and_wait(count, kParts);
    } else {
      unsigned first = 0;
      if (thread_index() % 128 == 0) first = arrive(count, kParts);
      if (part >= kSlices) return false;
      if (thread_index() % 128 == 0) wait_for_others(count, kParts, first);
    }
    named_barrier_sync<128>(barrier);
    // As many loads in flight as a few CTAs need to read at the speed of L2, and no more registers than they have.
    Base::template add_parts<kParts, kAtATime>(own, part, [&](int from, int number) {
      return __ldcg(at + (part * kParts + from) * kSliceFours + number * 128);
    });
    return true;
  }
};

/// The reduction through distributed shared memory, for the kRanks CTAs of a cluster.
template <int kRanks, int kInstructions, int kAccumulators, class Number>
struct ClusterReduction : AccumulatorSlices<kRanks, kInstructions, kAccumulators, Number> {
  using Base = AccumulatorSlices<kRanks, kInstructions, kAccumulators, Number>;
  static constexpr int kPartBytes = Base::kPieces * 128 * 16;  ///< from one warpgroup of another CTA
  static constexpr int kBytes = (kRanks - 1) * kPartBytes;     ///< of shared memory, for each warpgroup

  /// Sends this warpgroup's accumulators of the others' slices to their CTAs and adds what they send to its own slice.
  /// `parts` is where this warpgroup of every CTA receives accumulators, `received` the barrier that counts their
  /// bytes. It works once in a launch.
  static __device__ __forceinline__ void exchange(typename Base::Slice& own, const typename Base::Accumulators& acc,
                                                  unsigned parts, unsigned received, unsigned rank) {
    const unsigned thread_at = thread_index() % 128 * 16;
#pragma unroll
    for (unsigned to = 0; to < kRanks; ++to) {
      if (to == rank) {
        Base::keep(own, acc, to);
      } else {
        const unsigned slot = rank < to ? rank : rank - 1;
        const unsigned there = map_shared_address(parts + slot * kPartBytes + thread_at, to);
        const unsigned barrier = map_shared_address(received, to);
#pragma unroll
        for (int i = 0; i < Base::kPieces; ++i) {
          const float4 four = Base::piece(acc, to, i);
          asm volatile(
              "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                  there + i * 2048),
              "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w), "r"(barrier)
              : "memory");
        }
      }
    }
    mbarrier_wait_cluster(received, 0);
    Base::template add_parts<kRanks, kRanks>(own, static_cast<int>(rank), [&](int from, int number) {
      const unsigned slot = static_cast<unsigned>(from) < rank ? from : from - 1;
      float4 four;
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
                   : "r"(parts + slot * kPartBytes + thread_at + number * 2048)
                   : "memory");
      return four;
    });
  }
};

}  // namespace pgtune
