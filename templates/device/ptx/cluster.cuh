// SPDX-License-Identifier: MIT
// Thread block clusters (sm_90 and newer): a CTA's rank, barriers of the whole cluster, and distributed shared memory.
#pragma once

namespace pgtune {

/// Returns this CTA's rank in its cluster.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Waits for all threads of the cluster that have not ended.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Maps an address of this CTA's shared memory to the same address in the CTA `rank` (mapa).
__device__ __forceinline__ unsigned map_shared_address(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

__device__ __forceinline__ float4 load_shared_cluster(unsigned address_there) {
  float4 four;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(address_there)
               : "memory");
  return four;
}

/// Arrives at the cluster's barrier without waiting; all threads of a warp call it together.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
/// Waits until all threads of the cluster have called cluster_arrive().
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

}  // namespace pgtune
