// SPDX-License-Identifier: MIT
// Spans of memory: filled with a pattern, summed up, and watched for change.
#pragma once

#include "kernels/integers.cuh"

// The pattern lies at multiples of four bytes, wherever a span of it begins or ends.
__device__ inline unsigned char pattern_byte(const unsigned char* at, u32 pattern) {
  return static_cast<unsigned char>(pattern >> 8 * (reinterpret_cast<u64>(at) & 3));
}

extern "C" __global__ void fill_pattern(unsigned char* first, i64 bytes, u32 pattern) {
  const i64 to_word = static_cast<i64>(-reinterpret_cast<u64>(first) & 3), head = to_word < bytes ? to_word : bytes;
  const i64 words = (bytes - head) / 4;
  u32* const aligned = reinterpret_cast<u32*>(first + head);
#pragma unroll 1
  for (i64 i = global_thread(); i < words; i += thread_count()) aligned[i] = pattern;
  if (global_thread() != 0) return;
  for (i64 i = 0; i < head; ++i) first[i] = pattern_byte(first + i, pattern);
  for (i64 i = head + 4 * words; i < bytes; ++i) first[i] = pattern_byte(first + i, pattern);
}

// Order-free checksum: a wrapping sum of mixed (position, word) pairs. `first` is aligned to words; the bytes after the
// last whole word count as one each.
extern "C" __global__ void checksum(const unsigned char* first, i64 bytes, u64* sum) {
  const auto term = [](i64 i, u32 word) {
    return mix((static_cast<u64>(i) << 32 ^ static_cast<u64>(i) >> 32) + word + 0x9e3779b97f4a7c15ull);
  };
  const u32* const words = reinterpret_cast<const u32*>(first);
  const i64 count = bytes / 4, left = bytes - 4 * count;
  u64 local = 0;
#pragma unroll 1
  for (i64 i = global_thread(); i < count; i += thread_count()) local += term(i, words[i]);
  if (global_thread() < left) local += term(count + global_thread(), first[4 * count + global_thread()]);
  for (int offset = 16; offset > 0; offset /= 2) local += __shfl_down_sync(0xffffffffu, local, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, local);
}

// A column of CTAs a guard: counts the bytes that no longer hold the pattern.
struct Guards {
  const unsigned char* first[36];
  i64 bytes[36];
};
extern "C" __global__ void count_changed_bytes(Guards guards, u32 pattern, u64* changed) {
  u64 local = 0;
#pragma unroll 1
  for (i64 i = i64{blockIdx.y} * blockDim.x + threadIdx.x; i < guards.bytes[blockIdx.x]; i += blockDim.x * gridDim.y) {
    const unsigned char* const at = guards.first[blockIdx.x] + i;
    local += *at != pattern_byte(at, pattern);
  }
  if (local != 0) atomicAdd(changed + blockIdx.x, local);
}
