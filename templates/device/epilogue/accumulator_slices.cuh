// SPDX-License-Identifier: MIT
// The accumulators of CTAs that share a tile along K, in slices of columns that one of them finishes each. They are
// handed on as four floats at a time, whose bits are those of the accumulators, floats or integers.
#pragma once

namespace pgtune {

/// Returns a float with the bits of an accumulator.
__device__ __forceinline__ float bits_of(float accumulator) { return accumulator; }
__device__ __forceinline__ float bits_of(int accumulator) { return __int_as_float(accumulator); }

__device__ __forceinline__ void set_bits(float& to, float bits) { to = bits; }
__device__ __forceinline__ void set_bits(int& to, float bits) { to = __float_as_int(bits); }

/// Adds an accumulator, given by its bits.
__device__ __forceinline__ void add_bits(float& to, float bits) { to += bits; }
__device__ __forceinline__ void add_bits(int& to, float bits) { to += __float_as_int(bits); }

/// The accumulators of a thread of a warpgroup, kInstructions x kAccumulators of them, in kSharers slices of columns.
template <int kSharers, int kInstructions, int kAccumulators, class Number>
struct AccumulatorSlices {
  static constexpr int kSlice = kAccumulators / kSharers;         ///< columns of accumulators[i] of a slice
  static constexpr int kPieces = kInstructions * kSlice / 4;      ///< of four accumulators, in a thread's slice
  static constexpr bool kExact = static_cast<Number>(0.5f) == 0;  ///< integers
  static_assert(kAccumulators % kSharers == 0 && kSlice % 4 == 0, "slices are handed on in pieces of four");

  using Accumulators = Number[kInstructions][kAccumulators];
  using Slice = Number[kInstructions][kSlice];

  /// Returns a piece of a slice; both numbers are compile-time constants after unrolling.
  static __device__ __forceinline__ float4 piece(const Accumulators& acc, int slice, int number) {
    const Number* const four = &acc[number * 4 / kSlice][slice * kSlice + number * 4 % kSlice];
    return make_float4(bits_of(four[0]), bits_of(four[1]), bits_of(four[2]), bits_of(four[3]));
  }
  static __device__ __forceinline__ void keep(Slice& own, const Accumulators& acc, int slice) {
#pragma unroll
    for (int i = 0; i < kInstructions * kSlice; ++i) {
      own[i / kSlice][i % kSlice] = acc[i / kSlice][slice * kSlice + i % kSlice];
    }
  }
  static __device__ __forceinline__ void add(Slice& own, int number, const float4& four) {
    Number* const to = &own[number * 4 / kSlice][number * 4 % kSlice];
    add_bits(to[0], four.x), add_bits(to[1], four.y), add_bits(to[2], four.z), add_bits(to[3], four.w);
  }

  /// Adds all parts of a slice, part 0 first, whichever part finishes it: a row's bits do not depend on where it lies
  /// in a tile. `own` is part `part`'s in the beginning and the sum in the end; load(from, number) returns a piece of
  /// another part. kAtATime parts' pieces may be loaded at a time.
  template <int kParts, int kAtATime, class Load>
  static __device__ __forceinline__ void add_parts(Slice& own, int part, const Load& load) {
    if constexpr (kExact || kSharers <= 2) {  // the first two parts, 0 and 1, may be added either way
#pragma unroll kAtATime
      for (int slot = 0; slot < kParts - 1; ++slot) {
        const int from = slot < part ? slot : slot + 1;
#pragma unroll
        for (int i = 0; i < kPieces; ++i) add(own, i, load(from, i));
      }
    } else {
      Slice sum;
#pragma unroll kAtATime
      for (int from = 0; from < kParts; ++from) {
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
          const float4 four = from == part ? piece_of(own, i) : load(from, i);
          if (from == 0) {
            set(sum, i, four);
          } else {
            add(sum, i, four);
          }
        }
      }
#pragma unroll
      for (int i = 0; i < kInstructions * kSlice; ++i) own[i / kSlice][i % kSlice] = sum[i / kSlice][i % kSlice];
    }
  }

 private:
  static __device__ __forceinline__ float4 piece_of(const Slice& slice, int number) {
    const Number* const four = &slice[number * 4 / kSlice][number * 4 % kSlice];
    return make_float4(bits_of(four[0]), bits_of(four[1]), bits_of(four[2]), bits_of(four[3]));
  }
  static __device__ __forceinline__ void set(Slice& slice, int number, const float4& four) {
    Number* const to = &slice[number * 4 / kSlice][number * 4 % kSlice];
    set_bits(to[0], four.x), set_bits(to[1], four.y), set_bits(to[2], four.z), set_bits(to[3], four.w);
  }
};

}  // namespace pgtune
