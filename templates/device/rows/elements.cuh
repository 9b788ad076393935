// SPDX-License-Identifier: MIT
// Vectors of elements of one of the types that DTYPE names, between memory and float registers. Wants the macros DTYPE
// (a label), ELEM_BYTES and VEC_BYTES.
#pragma once

#include "device/epilogue/out_element.cuh"
#include "device/rows/vector_access.cuh"

namespace pgtune {

#if DTYPE == LABEL_bf16
constexpr Type16 kType16 = Type16::kBf16;
#else
constexpr Type16 kType16 = Type16::kF16;
#endif

/// So many elements are moved at once.
constexpr int kPerVector = VEC_BYTES / ELEM_BYTES;

/// VEC_BYTES bytes as they are in memory.
union Vector {
  Bits<VEC_BYTES>::Type bits;
  unsigned short halves[VEC_BYTES / 2];
  float floats[VEC_BYTES >= 4 ? VEC_BYTES / 4 : 1];
  __device__ Vector() {}
};

/// `index`: of the vector in the array, whose address is a multiple of VEC_BYTES.
template <bool kStreaming>
__device__ __forceinline__ Vector load_vector(const void* array, long long index) {
  Vector vector;
  vector.bits = load_bits<kStreaming>(static_cast<const Bits<VEC_BYTES>::Type*>(array) + index);
  return vector;
}

template <bool kStreaming>
__device__ __forceinline__ void store_vector(void* array, long long index, const Vector& vector) {
  store_bits<kStreaming>(static_cast<Bits<VEC_BYTES>::Type*>(array) + index, vector.bits);
}

__device__ __forceinline__ float element_of(const Vector& vector, int i) {
  if constexpr (ELEM_BYTES == 4) {
    return vector.floats[i];
  } else {
    return widen<kType16>(vector.halves[i]);
  }
}

/// Rounds to nearest.
__device__ __forceinline__ Vector vector_of(const float (&values)[kPerVector]) {
  Vector vector;
#pragma unroll
  for (int i = 0; i < kPerVector; ++i) {
    if constexpr (ELEM_BYTES == 4) {
      vector.floats[i] = values[i];
    } else {
      vector.halves[i] = static_cast<unsigned short>(pack<kType16>(values[i], 0.0f) & 0xffff);
    }
  }
  return vector;
}

}  // namespace pgtune
