// SPDX-License-Identifier: MIT
// Flags and counters in global memory by which CTAs of a grid wait for each other.
#pragma once

namespace pgtune {

/// Says to all workers of the GPU that what this thread's CTA or group wrote before is there. One thread calls it,
/// after a barrier of the writers, each of whom called __threadfence().
__device__ __forceinline__ void raise_flag(unsigned* flag) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}

/// Waits for raise_flag() and takes the flag back, so that it is down for the next launch.
__device__ __forceinline__ void await_flag(unsigned* flag) {
  unsigned raised = 0;
  while (raised == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(raised) : "l"(flag) : "memory");
  *flag = 0;
}

/// Says that one of a tile's workers has written its part, and waits until all of them have: `parts` arrive in each
/// launch, so that the count never needs to be set back. One thread of each worker calls it, after a barrier of the
/// writers, each of whom called __threadfence(); what the others wrote may be read after another barrier.
__device__ __forceinline__ void meet_workers(unsigned* count, unsigned parts) {
  unsigned before, now;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  const unsigned goal = (before / parts + 1) * parts;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
  } while (static_cast<int>(now - goal) < 0);
}

}  // namespace pgtune
