// SPDX-License-Identifier: MIT
// mbarrier: barriers in shared memory that count arrivals of threads and bytes of TMA (sm_90 and newer).
#pragma once

#include "device/ptx/cluster.cuh"

namespace pgtune {

using Mbarrier = unsigned long long;  ///< an mbarrier object, aligned to 8 bytes

__device__ __forceinline__ void mbarrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to TMA. The thread that initialised them calls it before the first TMA load.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives and expects `bytes` of TMA loads that complete on this barrier.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// Waits for the phase of this parity to complete. A fresh barrier counts as complete in parity 1.
__device__ __forceinline__ void mbarrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Arrives on a barrier of any CTA of the cluster, at an address from map_shared_address(). The arrival says that this
/// thread has read what TMA loaded; it publishes nothing that the thread wrote, so it needs no release wider than the
/// CTA's.
__device__ __forceinline__ void mbarrier_arrive_remote(unsigned address_there) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_there) : "memory");
}

/// Arrives on this barrier in each of the first `ranks` CTAs. Called after a barrier of this CTA's threads, it
/// publishes to the cluster what they wrote.
__device__ __forceinline__ void mbarrier_arrive_cluster(unsigned barrier, unsigned ranks) {
  for (unsigned rank = 0; rank < ranks; ++rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map_shared_address(barrier, rank))
                 : "memory");
  }
}

/// Waits as mbarrier_wait() does, for a barrier on which other CTAs of the cluster arrive.
__device__ __forceinline__ void mbarrier_wait_cluster(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace pgtune
