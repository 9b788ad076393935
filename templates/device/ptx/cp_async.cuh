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

/// Copies kBytes, both addresses aligned to that, or writes zeros and leaves `global` alone where it does not exist.
/// kL2Bytes, 0, 128 or 256, is what L2 fetches at least.
template <int kBytes, int kL2Bytes>
__device__ __forceinline__ void cp_async_or_zero(unsigned shared, const void* global, bool exists) {
#define PGTUNE_COPY(FROM)                                                                                    \
  asm volatile("{ .reg .pred p; setp.eq.b32 p, %2, 0; cp.async." FROM " [%0], [%1], %3, p; }" ::"r"(shared), \
               "l"(global), "r"(static_cast<int>(exists)), "n"(kBytes)                                       \
               : "memory")
#define PGTUNE_COPY_THROUGH(CACHES)                \
  if constexpr (kL2Bytes == 256) {                 \
    PGTUNE_COPY(CACHES ".shared.global.L2::256B"); \
  } else if constexpr (kL2Bytes == 128) {          \
    PGTUNE_COPY(CACHES ".shared.global.L2::128B"); \
  } else {                                         \
    PGTUNE_COPY(CACHES ".shared.global");          \
  }
  if constexpr (kBytes == 16) {
    PGTUNE_COPY_THROUGH("cg")
  } else {
    PGTUNE_COPY_THROUGH("ca")
  }
#undef PGTUNE_COPY_THROUGH
#undef PGTUNE_COPY
}

/// Has this thread arrive at an mbarrier when all its copies so far are complete; the barrier counts the arrival as any
/// other (sm_90: what was copied is of the generic proxy, so that wgmma reads it after a fence_proxy_async()).
__device__ __forceinline__ void mbarrier_arrive_after_copies(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most kPending of this thread's committed groups are unfinished.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace pgtune
