// SPDX-License-Identifier: MIT
// Stores D = activation(alpha * accumulators + beta * C + bias) for a warp's tile, two neighbours at a time. Integers
// have no epilogue, and whole numbers for alpha and beta.
#pragma once

#include "device/epilogue/fused_epilogue.cuh"
#include "device/epilogue/out_element.cuh"
#include "device/ptx/accumulator.cuh"

namespace pgtune {

/// C and D of a matrix of the batch, and the epilogue's parameters.
struct MmaDestination {
  const void* c;
  void* d;
  long long ld;       ///< elements from row to row
  int rows, columns;  ///< of D
  float alpha, beta;
  const void* bias;  ///< one element for each column of D
};

/// kBytes are the bytes of an element of C and D; kAlignment divides the address of every row.
template <int kBytes, Type16 kType, int kAlignment>
struct MmaOutput {
  using Element = typename OutElement<kBytes, Accumulator>::Type;

  /// Stores two neighbours of a row, as far as they lie inside D.
  static __device__ __forceinline__ void write(const Accumulator* acc, const MmaDestination& to, int row, int column) {
    const int left = to.columns - column;
    if (row >= to.rows || left <= 0) return;
    const long long at = row * to.ld + column;
    const Element* const c = static_cast<const Element*>(to.c) + at;
    const Accumulator first = finish(acc[0], c, to, column);
    const Accumulator second = left > 1 ? finish(acc[1], c + 1, to, column + 1) : Accumulator{};
    store(first, second, static_cast<Element*>(to.d) + at, left > 1);
  }

 private:
  static __device__ __forceinline__ Accumulator widened(const Element& element) {
    if constexpr (kBytes == 4) {
      return element;
    } else {
      return widen<kType>(element);
    }
  }

  /// Returns an element's final value from its accumulator.
  static __device__ __forceinline__ float finish(float sum, const Element* c, const MmaDestination& to, int column) {
    const auto product = [&] {
      return kHasBias ? fmaf(to.alpha, sum, bias_of<kBytes, kType>(to.bias, column)) : to.alpha * sum;
    };
    return activated<kActivation>(to.beta == 0.0f ? product() : fmaf(to.beta, widened(*c), product()));
  }
  static __device__ __forceinline__ int finish(int sum, const Element* c, const MmaDestination& to, int) {
    const int product = static_cast<int>(to.alpha) * sum;
    return to.beta == 0.0f ? product : product + static_cast<int>(to.beta) * *c;
  }

  static __device__ __forceinline__ void store(Accumulator first, Accumulator second, Element* d, bool both) {
    constexpr bool kTogether = kAlignment % (2 * kBytes) == 0;
    if constexpr (kBytes == 2) {
      const unsigned packed = pack<kType>(first, second);
      if (kTogether && both) {
        *reinterpret_cast<unsigned*>(d) = packed;
      } else {
        d[0] = static_cast<unsigned short>(packed);
        if (both) d[1] = static_cast<unsigned short>(packed >> 16);
      }
    } else if (kTogether && both) {
      *reinterpret_cast<TwoAccumulators*>(d) = {first, second};
    } else {
      d[0] = first;
      if (both) d[1] = second;
    }
  }
};

}  // namespace pgtune
