// SPDX-License-Identifier: MIT
// Sums of a tile that several workers compute along K (split-K), added up by way of global memory: each worker
// finishes a slice of the tile's columns and reads the others' sums of it, in an order that is the same in every run.
#pragma once

#include "device/ptx/cluster.cuh"
#include "device/ptx/global_flag.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/special_registers.cuh"

namespace pgtune {

/// kSharers slices of, for each thread of a warpgroup, kInstructions x kSums sums.
template <int kSharers, int kInstructions, int kSums>
struct SlicedSums {
  static constexpr int kSlice = kSums / kSharers;             ///< columns of sums[i] of a slice
  static constexpr int kPieces = kInstructions * kSlice / 4;  ///< of four sums, in a thread's slice
  static_assert(kSums % kSharers == 0 && kSlice % 4 == 0, "slices are handed on in pieces of four");

  using Sums = float[kInstructions][kSums];
  using Slice = float[kInstructions][kSlice];

  /// A piece of a slice; both numbers are known when this is compiled.
  static __device__ __forceinline__ float4 piece(const Sums& sums, int slice, int number) {
    const float* const four = &sums[number * 4 / kSlice][slice * kSlice + number * 4 % kSlice];
    return make_float4(four[0], four[1], four[2], four[3]);
  }
  static __device__ __forceinline__ void keep(Slice& own, const Sums& sums, int slice) {
#pragma unroll
    for (int i = 0; i < kInstructions * kSlice; ++i) {
      own[i / kSlice][i % kSlice] = sums[i / kSlice][slice * kSlice + i % kSlice];
    }
  }
  static __device__ __forceinline__ void add(Slice& own, int number, const float4& four) {
    float* const to = &own[number * 4 / kSlice][number * 4 % kSlice];
    to[0] += four.x, to[1] += four.y, to[2] += four.z, to[3] += four.w;
  }
};

/// kParts workers, which all run at a time.
template <int kParts, int kInstructions, int kSums>
struct SplitSums : SlicedSums<kParts, kInstructions, kSums> {
  using Base = SlicedSums<kParts, kInstructions, kSums>;
  static constexpr int kSliceFours = Base::kPieces * 128;       ///< from one of a tile's workers to another
  static constexpr int kFours = kParts * kParts * kSliceFours;  ///< of the workspace, for each tile and warpgroup

  /// Writes this warpgroup's sums of the others' slices, and adds to its own slice what the others have written.
  /// `partials`: kFours of this tile and warpgroup. `count`: theirs too, for meet_workers(). `barrier`: named, of this
  /// warpgroup.
  static __device__ __forceinline__ void exchange(typename Base::Slice& own, const typename Base::Sums& sums,
                                                  float4* partials, unsigned* count, int part, int barrier) {
    float4* const at = partials + thread_index() % 128;
#pragma unroll
    for (int to = 0; to < kParts; ++to) {
      if (to == part) {
        Base::keep(own, sums, to);
      } else {
#pragma unroll
        for (int i = 0; i < Base::kPieces; ++i) {
          __stcg(at + (to * kParts + part) * kSliceFours + i * 128, Base::piece(sums, to, i));
        }
      }
    }
    __threadfence();
    sync_threads<128>(barrier);
    if (thread_index() % 128 == 0) meet_workers(count, kParts);
    sync_threads<128>(barrier);
#pragma unroll
    for (int slot = 0; slot < kParts - 1; ++slot) {
      const int from = slot < part ? slot : slot + 1;
#pragma unroll
      for (int i = 0; i < Base::kPieces; ++i) {
        Base::add(own, i, __ldcg(at + (part * kParts + from) * kSliceFours + i * 128));
      }
    }
  }
};

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
