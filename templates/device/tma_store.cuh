// SPDX-License-Identifier: MIT
// Tiles from shared memory to a tensor by the copy engine (sm_90 and newer). What lies outside the tensor is not
// written. The thread that asks for stores is the one that waits for them.
#pragma once

#include "device/tma_multicast.cuh"

namespace pgtune {

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
