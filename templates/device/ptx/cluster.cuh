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

/// Says once, after its barriers are initialised, that this CTA may be sent sums; all threads of a warp together.
__device__ __forceinline__ void announce_to_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
/// Waits until all CTAs of the cluster have done so.
__device__ __forceinline__ void await_cluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

}  // namespace pgtune
