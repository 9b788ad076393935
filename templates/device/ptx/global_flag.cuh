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
/// in each launch, so nobody has to reset the count, and `parts` is a power of two, so that 2^32 arrivals are whole
/// launches. One thread of each worker calls it after a barrier of the writers, each of whom has called
/// __threadfence(); other threads may read what the other workers wrote after another barrier.
__device__ __forceinline__ void arrive_and_wait(unsigned* count, unsigned parts) {
  unsigned before, now;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  const unsigned goal = (before / parts + 1) * parts;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
  } while (static_cast<int>(now - goal) < 0);
}

/// Arrivals of any number of parts are counted from 0 to this and from 0 again: a multiple of `parts`, less one.
__device__ constexpr unsigned last_count(unsigned parts) { return 0xffffffffU / parts * parts - 1; }
/// Returns the count before the first arrival of the launch in which the count was `before`.
__device__ constexpr unsigned first_count(unsigned before, unsigned parts) { return before - before % parts; }
/// Whether all parts have arrived of the launch that found the count at `first`.
__device__ constexpr bool all_arrived(unsigned now, unsigned first, unsigned parts) { return now - first >= parts; }

/// The first half of such a barrier for any number of parts, for workers of whom not all have to wait: counts this one
/// in, and returns first_count().
__device__ __forceinline__ unsigned arrive(unsigned* count, unsigned parts) {
  unsigned before;
  asm volatile("atom.inc.acq_rel.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(count), "r"(last_count(parts))
               : "memory");
  return first_count(before, parts);
}

/// Its second half: waits until all parts have arrived.
__device__ __forceinline__ void wait_for_others(const unsigned* count, unsigned parts, unsigned first) {
  unsigned now;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
  } while (!all_arrived(now, first, parts));
}

}  // namespace pgtune
