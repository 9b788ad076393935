// SPDX-License-Identifier: MIT
// Flags and counters in global memory by which CTAs of a grid wait for each other.
#pragma once

namespace pgtune {

/// Tells the other workers of the GPU that this thread's CTA or group has written its data. One thread calls it after a
/// barrier of the writers, each of whom has called __threadfence().
__device__ __forceinline__ void set_flag(unsigned* flag) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}

/// Waits for set_flag() and clears the flag for the next launch.
__device__ __forceinline__ void wait_flag(unsigned* flag) {
  unsigned raised = 0;
  while (raised == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(raised) : "l"(flag) : "memory");
  *flag = 0;
}

/// A barrier of a tile's workers: counts this one in and waits until all `parts` have arrived. `parts` workers arrive
/// in each launch, so nobody has to reset the count. One thread of each worker calls it after a barrier of the writers,
/// each of whom has called __threadfence(); other threads may read what the other workers wrote after another barrier.
__device__ __forceinline__ void arrive_and_wait(unsigned* count, unsigned parts) {
  unsigned before, now;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  const unsigned goal = (before / parts + 1) * parts;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
  } while (static_cast<int>(now - goal) < 0);
}

}  // namespace pgtune
