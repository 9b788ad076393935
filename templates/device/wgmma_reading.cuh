// SPDX-License-Identifier: MIT
// Where gemm_wgmma's computing side reads, and how it gives stages back.
#pragma once

#include "device/wgmma_tile.cuh"

namespace pgtune::product {

/// Where a warpgroup reads, and whom it tells what.
struct Reading {
  unsigned left;     ///< lower half of the descriptor of its left tile in stage 0, or TurnedFragment::place()
  unsigned right;    ///< lower half of that of its right tile
  unsigned full;     ///< full[0]
  unsigned release;  ///< this lane's address of empty[0], or 0 in lanes that tell nobody
};

/// Tells whoever fills a stage that this warp has read it; `barrier` is 0 in lanes that tell nobody.
__device__ __forceinline__ void release_stage(unsigned release, unsigned barrier) {
  if (release == 0) return;
  if constexpr (kCluster > 1) {
    barrier_arrive_at(barrier);
  } else {
    barrier_arrive(barrier);
  }
}

}  // namespace pgtune::product
