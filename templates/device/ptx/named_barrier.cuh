// SPDX-License-Identifier: MIT
// Barriers of some of a CTA's threads, by number (1 to 15; 0 is __syncthreads()).
#pragma once

namespace pgtune {

/// Called by kThreads threads in whole warps, the same ones each time.
template <int kThreads>
__device__ __forceinline__ void sync_threads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

/// Called by kThreads threads in whole warps. `barrier`: 1 to 15; 0 is __syncthreads()'s. Not sync_threads(): of the
/// aligned form all threads must execute the same instruction.
template <int kThreads>
__device__ __forceinline__ void sync_roles(int barrier) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

}  // namespace pgtune
