// SPDX-License-Identifier: MIT
// Integers of fixed width, a hash of them, and which thread this is.
#pragma once

using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

// Finaliser of splitmix64 (Steele, Lea, Flood 2014): turns a counter into well-mixed bits.
__device__ inline u64 mix(u64 x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ inline i64 global_thread() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline i64 thread_count() { return static_cast<i64>(gridDim.x) * blockDim.x; }
