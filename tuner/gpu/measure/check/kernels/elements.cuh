// SPDX-License-Identifier: MIT
// Elements of every type, as float64 and from float32.
#pragma once

#include "kernels/float16.cuh"
#include "kernels/integers.cuh"

// Numbered as pgtune::ElementType.
enum Type { kFloat32, kFloat16, kBfloat16, kE4m3, kE5m2, kInt8, kInt32 };

// To the nearest of a type with so many stored mantissa bits; below its least exponent the spacing stays the same.
__device__ inline float rounded(float value, int mantissa_bits, int least_exponent) {
  const int exponent = max(static_cast<int>(__float_as_uint(value) >> 23 & 0xff) - 127, least_exponent);
  const float step = __int_as_float(exponent - mantissa_bits + 127 << 23);
  return rintf(value / step) * step;
}

// e5m2 is the upper byte of a float16. e4m3 is laid out as a float16 without its first exponent bit and its last seven
// mantissa bits, so it reads as one 2^8 times too small: the biases are 7 and 15. Numbers only; nothing here is NaN.
constexpr float kE4m3AsHalf = 0x1p-8f;

__device__ inline int element_bytes(int type) {
  switch (type) {
    case kE4m3:
    case kE5m2:
    case kInt8:
      return 1;
    case kFloat16:
    case kBfloat16:
      return 2;
    case kFloat32:
    case kInt32:
      return 4;
  }
  return 0;
}

// Float64 holds the numbers of every type, those of int32 too.
__device__ inline double load_element(const void* matrix, i64 index, int type) {
  switch (type) {
    case kFloat16:
      return half_to_float(static_cast<const unsigned short*>(matrix)[index]);
    case kBfloat16:
      return __uint_as_float(static_cast<u32>(static_cast<const unsigned short*>(matrix)[index]) << 16);
    case kE4m3: {
      const u32 byte = static_cast<const unsigned char*>(matrix)[index];
      return half_to_float((byte & 0x80) << 8 | (byte & 0x7f) << 7) / kE4m3AsHalf;
    }
    case kE5m2:
      return half_to_float(static_cast<u32>(static_cast<const unsigned char*>(matrix)[index]) << 8);
    case kInt8:
      return static_cast<const signed char*>(matrix)[index];
    case kInt32:
      return static_cast<const int*>(matrix)[index];
    case kFloat32:
      return static_cast<const float*>(matrix)[index];
  }
  return __longlong_as_double(-1);  // no type: NaN, which no check lets pass
}

// Rounds to nearest even; integers are whole numbers of their range already. Of what is no type the poison stays.
__device__ inline void store_element(void* matrix, i64 index, int type, float value) {
  switch (type) {
    case kFloat16:
      static_cast<unsigned short*>(matrix)[index] = static_cast<unsigned short>(float_to_half(value));
      break;
    case kBfloat16: {
      const u32 bits = __float_as_uint(value);
      static_cast<unsigned short*>(matrix)[index] = static_cast<unsigned short>(bits + 0x7fff + (bits >> 16 & 1) >> 16);
      break;
    }
    case kE4m3: {
      const u32 bits = float_to_half(rounded(value, 3, -6) * kE4m3AsHalf);
      static_cast<unsigned char*>(matrix)[index] = static_cast<unsigned char>(bits >> 8 & 0x80 | bits >> 7 & 0x7f);
      break;
    }
    case kE5m2:
      static_cast<unsigned char*>(matrix)[index] =
          static_cast<unsigned char>(float_to_half(rounded(value, 2, -14)) >> 8);
      break;
    case kInt8:
      static_cast<signed char*>(matrix)[index] = static_cast<signed char>(value);
      break;
    case kInt32:
      static_cast<int*>(matrix)[index] = static_cast<int>(value);
      break;
    case kFloat32:
      static_cast<float*>(matrix)[index] = value;
      break;
  }
}
