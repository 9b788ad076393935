// SPDX-License-Identifier: MIT
// Float16 as float32 and from it, rounded to nearest even.
#pragma once

#include "kernels/integers.cuh"

__device__ inline float half_to_float(u32 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<unsigned short>(bits)));
  return value;
}

__device__ inline u32 float_to_half(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
