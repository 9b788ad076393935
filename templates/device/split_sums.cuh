// SPDX-License-Identifier: MIT
// Sums of a tile that several workers compute along K (split-K), added up by way of global memory: each worker
// finishes a slice of the tile's columns and reads the others' sums of it, in an order that is the same in every run.
#pragma once

#include "device/named_barrier.cuh"
#include "device/sliced_sums.cuh"
#include "device/special_registers.cuh"
#include "device/stream_k.cuh"

namespace pgtune {

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

}  // namespace pgtune
