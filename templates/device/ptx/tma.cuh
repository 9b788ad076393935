// SPDX-License-Identifier: MIT
// Copies of tensor tiles by the copy engine (sm_90 and newer).
#pragma once

namespace pgtune {

/// A CUtensorMap as a kernel's parameter.
struct alignas(64) TensorMap {
  unsigned char opaque[128];
};

/// Copies a box of a three-dimensional map to shared memory; its bytes count on `barrier` when they are there. Elements
/// outside the tensor arrive as zeros and count too.
__device__ __forceinline__ void load_box(unsigned to, const TensorMap& map, int x, int y, int z, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

/// Orders what this thread read and wrote in its CTA's shared memory before what the copy engine writes there later.
/// Without the state space it would also wait for copies under way.
__device__ __forceinline__ void async_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

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

/// The writers of the box have called async_fence(), and a barrier lies between. kPasses: L2 evicts first what is
/// written.
template <bool kPasses>
__device__ __forceinline__ void store_box(const TensorMap& map, unsigned from, int x, int y, int z) {
  if constexpr (kPasses) {
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
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all but this thread's last kPending stores have read their box, which may then be written again.
template <int kPending>
__device__ __forceinline__ void stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

}  // namespace pgtune
