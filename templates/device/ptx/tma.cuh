// SPDX-License-Identifier: MIT
// TMA, the tensor memory accelerator (sm_90 and newer): loads of tensor tiles to shared memory, also with multicast,
// and stores.
#pragma once

namespace pgtune {

/// A CUtensorMap, passed as a kernel parameter.
struct alignas(64) TensorMap {
  unsigned char opaque[128];
};

/// Loads a box of a three-dimensional map to shared memory; its bytes count on `barrier` when they arrive. Elements
/// outside the tensor arrive as zeros and count too.
__device__ __forceinline__ void tma_load(unsigned to, const TensorMap& map, int x, int y, int z, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

/// Orders this thread's earlier accesses to its CTA's shared memory before later TMA accesses. The fence names the
/// state space because without it it would also wait for copies under way.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// L2 cache policies of TMA loads: how early L2 evicts what a load reads.
constexpr unsigned long long kEvictFirst = 0x12f0000000000000, kEvictLast = 0x14f0000000000000;

/// Loads as tma_load() does. With kShared the box goes to the same address in each CTA of `mask` and counts there on
/// the barrier at the same address; with kHinted L2 follows `policy`.
template <bool kShared, bool kHinted>
__device__ __forceinline__ void tma_load_multicast(unsigned to, const TensorMap& map, int x, int y, int z,
                                                   unsigned barrier, unsigned mask, unsigned long long policy) {
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
    tma_load(to, map, x, y, z, barrier);
  }
}

/// Stores a box from shared memory. The writers of the box have called fence_proxy_async() and a barrier before. What
/// lies outside the tensor is not written. kEvictsFirst: L2 evicts first what is written. The thread that stores is the
/// one that commits, and waits.
template <bool kEvictsFirst>
__device__ __forceinline__ void tma_store(const TensorMap& map, unsigned from, int x, int y, int z) {
  if constexpr (kEvictsFirst) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2, %3}], [%4], %5;" ::"l"(
            &map),
        "r"(x), "r"(y), "r"(z), "r"(from), "l"(kEvictFirst)
        : "memory");
  } else {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map), "r"(x),
                 "r"(y), "r"(z), "r"(from)
                 : "memory");
  }
}

/// Makes a group of this thread's stores since the last one.
__device__ __forceinline__ void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all but this thread's last kPending groups of stores have read their boxes, which may be overwritten
/// then.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

}  // namespace pgtune
