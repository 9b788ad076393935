// SPDX-License-Identifier: MIT
// Barriers of some of a CTA's threads, by number (1 to 15; 0 is __syncthreads()).
#pragma once

namespace pgtune {

/// Called by kThreads threads in whole warps, the same ones each time.
template <int kThreads>
__device__ __forceinline__ void sync_threads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

}  // namespace pgtune
