// SPDX-License-Identifier: MIT
// Copies of tensor tiles to several CTAs of a cluster at once, and the barriers that go with them (sm_90 and newer).
#pragma once

#include "device/tma.cuh"

namespace pgtune {

/// How long L2 should keep what a copy reads.
constexpr unsigned long long kEvictFirst = 0x12f0000000000000, kEvictLast = 0x14f0000000000000;

/// load_box(), where kShared to the same place in each CTA of `mask`, counted there on the barrier at the same place;
/// where kHinted with an L2 policy.
template <bool kShared, bool kHinted>
__device__ __forceinline__ void load_box_for(unsigned to, const TensorMap& map, int x, int y, int z, unsigned barrier,
                                             unsigned mask, unsigned long long policy) {
  if constexpr (kShared && kHinted) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
        "[%0], [%1, {%2, %3, %4}], [%5], %6, %7;" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(static_cast<unsigned short>(mask)), "l"(policy)
        : "memory");
  } else if constexpr (kShared) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(static_cast<unsigned short>(mask))
        : "memory");
  } else if constexpr (kHinted) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "l"(policy)
        : "memory");
  } else {
    load_box(to, map, x, y, z, barrier);
  }
}

/// Arrives on a barrier of any CTA of the cluster, at an address from shared_address_at(). It says that this thread has
/// read what copies left here, and publishes nothing that it wrote: no wider release than the CTA's is needed.
__device__ __forceinline__ void barrier_arrive_at(unsigned address_there) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_there) : "memory");
}

}  // namespace pgtune
