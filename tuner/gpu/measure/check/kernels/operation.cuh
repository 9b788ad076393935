// SPDX-License-Identifier: MIT
// What the source of an operation's reference and fills includes as "operation.cuh": elements of any type as float64,
// from float32, and random bits. The macro TYPE_X is the type of the buffer X.
//
//   double load_element(const void* buffer, i64 index, int type)
//   void store_element(void* buffer, i64 index, int type, float value)    rounds to nearest
//   u64 random_bits(u64 seed, i64 index), float random_uniform(...) in [-1, 1), float random_normal(...)
#pragma once

#include "kernels/data.cuh"

__device__ inline u64 random_bits(u64 seed, i64 index) {
  return mix(seed + (static_cast<u64>(index) + 1) * 0x9e3779b97f4a7c15ull);
}
__device__ inline float random_uniform(u64 seed, i64 index) { return data_value(random_bits(seed, index), kUniform); }
__device__ inline float random_normal(u64 seed, i64 index) { return data_value(random_bits(seed, index), kNormal); }
