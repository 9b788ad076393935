// SPDX-License-Identifier: MIT
// What the CTAs of a cluster share: each other's shared memory, and barriers in it (sm_90 and newer).
#pragma once

namespace pgtune {

/// This CTA's place in its cluster.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Waits for all threads of the cluster that have not ended.
__device__ __forceinline__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The same place in the shared memory of the CTA `rank`.
__device__ __forceinline__ unsigned shared_address_at(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

__device__ __forceinline__ float4 load_at(unsigned address_there) {
  float4 four;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(address_there)
               : "memory");
  return four;
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
