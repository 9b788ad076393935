// SPDX-License-Identifier: MIT
// Named barriers: barriers of some of a CTA's threads, with ids 1 to 15. Id 0 is __syncthreads().
#pragma once

namespace pgtune {

/// Synchronises kThreads threads in whole warps, the same threads each time.
template <int kThreads>
__device__ __forceinline__ void named_barrier_sync(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

/// Synchronises kThreads threads in whole warps that arrive from different places of a kernel, such as producers and
/// consumers. named_barrier_sync() does not do for them: of the aligned form all threads must execute the same
/// instruction.
template <int kThreads>
__device__ __forceinline__ void named_barrier_sync_unaligned(int barrier) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

}  // namespace pgtune
