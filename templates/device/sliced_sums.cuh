// SPDX-License-Identifier: MIT
// The sums of a warpgroup's tile in slices of its columns, one for each of those that share the tile along K and finish
// a slice each.
#pragma once

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

}  // namespace pgtune
