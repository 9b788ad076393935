// SPDX-License-Identifier: MIT
// Barriers in shared memory that count arrivals of threads and bytes of the copy engine (sm_90 and newer).
#pragma once

#include "device/ptx/cluster.cuh"

namespace pgtune {

using Barrier = unsigned long long;  ///< an mbarrier object, aligned to 8 bytes

__device__ __forceinline__ void barrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to the copy engine; before the first copy, by the thread that initialised them.
__device__ __forceinline__ void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives and announces `bytes` of copies that complete on this barrier.
__device__ __forceinline__ void barrier_arrive_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// Waits for the phase of this parity to complete. A fresh barrier has completed parity 1.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
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

/// Arrives on a barrier of any CTA of the cluster, at an address from shared_address_at(). It says that this thread has
/// read what copies left here, and publishes nothing that it wrote: no wider release than the CTA's is needed.
__device__ __forceinline__ void barrier_arrive_at(unsigned address_there) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_there) : "memory");
}

/// Arrives on this barrier in each of the first `ranks` CTAs. After a barrier of this CTA's threads, it publishes to
/// the cluster what they wrote.
__device__ __forceinline__ void barrier_arrive_everywhere(unsigned barrier, unsigned ranks) {
  for (unsigned rank = 0; rank < ranks; ++rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(shared_address_at(barrier, rank))
                 : "memory");
  }
}

/// barrier_wait() for a barrier on which other CTAs of the cluster arrive.
__device__ __forceinline__ void barrier_wait_cluster(unsigned barrier, unsigned parity) {
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
