// SPDX-License-Identifier: MIT
// Asynchronous copies from global to shared memory (sm_80 and later), without passing through registers.
#pragma once

#include "device/ptx/shared_memory.cuh"

namespace pgtune {

/// Copies kBytes (4, 8 or 16), both addresses aligned to that, where `active`. Predicated, not branched around: a
/// branch would cut the arithmetic around it into pieces that are scheduled apart. Only 16-byte copies can bypass L1.
template <int kBytes, bool kBypassL1>
__device__ __forceinline__ void cp_async(unsigned shared, const float* global, bool active) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async copies 4, 8 or 16 bytes");
  if constexpr (kBypassL1 && kBytes == 16) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(shared),
                 "l"(global), "r"(static_cast<int>(active))
                 : "memory");
  } else {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3; }" ::"r"(shared),
                 "l"(global), "r"(static_cast<int>(active)), "n"(kBytes)
                 : "memory");
  }
}

/// Copies the first `valid_bytes` of kBytes and fills the rest with zeros, where `active`. `global` must be a readable
/// address even where nothing is valid.
template <int kBytes, bool kBypassL1>
__device__ __forceinline__ void cp_async_zero_fill(unsigned shared, const float* global, int valid_bytes, bool active) {
  if constexpr (kBypassL1 && kBytes == 16) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16, %3; }" ::"r"(shared),
        "l"(global), "r"(static_cast<int>(active)), "r"(valid_bytes)
        : "memory");
  } else {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3, %4; }" ::"r"(shared),
        "l"(global), "r"(static_cast<int>(active)), "n"(kBytes), "r"(valid_bytes)
        : "memory");
  }
}

__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most kPending of this thread's committed groups are unfinished.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace pgtune
