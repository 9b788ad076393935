// SPDX-License-Identifier: MIT
// Barriers in shared memory that count arrivals of threads and bytes of the copy engine (sm_90 and newer).
#pragma once

#include "device/shared_address.cuh"

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

/// Where the next tile of a ring of stages goes, or comes from, and the parity of the phase to wait for.
template <int kStages>
struct RingPlace {
  int stage;
  unsigned parity;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

}  // namespace pgtune
