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

}  // namespace pgtune
