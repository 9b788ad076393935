// SPDX-License-Identifier: MIT
// The producer of gemm_wgmma: one thread has TMA fill the pipeline's stages, one after the other.
#pragma once

#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/programmatic_dependent_launch.cuh"
#include "device/scheduler/wgmma_scheduler.cuh"

namespace pgtune::product {

constexpr unsigned long long policy(long long hint) { return hint == LABEL_evict_first ? kEvictFirst : kEvictLast; }

/// Issues the loads of all work tiles of a CTA, of which `at` is the first. Operands in parts are batches of PARTS
/// matrices.
__device__ __forceinline__ void produce(const TensorMap& map_left, const TensorMap& map_right, TileScheduler& at,
                                        int right_origin, unsigned stages, unsigned full, unsigned empty, int rank) {
  // CTAs with the same rows share the left tile, those with the same columns share the right one.
  const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M;
  unsigned mask_left = 0, mask_right = 0;
#pragma unroll
  for (int i = 0; i < CLUSTER_N; ++i) mask_left |= 1u << (rank_m + i * CLUSTER_M);
#pragma unroll
  for (int i = 0; i < CLUSTER_M; ++i) mask_right |= 1u << (i + rank_n * CLUSTER_M);

  PipelineState<STAGES> to{0, 1};
  if constexpr (DEPENDENT_LAUNCH) griddepcontrol_wait();
  for (; at.valid; at.next()) {
    const WorkTile work_tile = at.work_tile;
    const TileCoord tile = at.tile;
#pragma unroll 1
    for (int block = work_tile.first; block < work_tile.last; block += kBlockStride) {
      mbarrier_wait(empty + 8 * to.stage, to.parity);
      const unsigned barrier = full + 8 * to.stage, stage = stages + kStageBytes * to.stage;
      mbarrier_arrive_expect_tx(barrier, kStageBytes);
#pragma unroll
      for (int part = 0; part < PARTS; ++part) {
        const int matrix = tile.batch * PARTS + part;
        Left::load<CLUSTER_N, LEFT_CACHE_HINT != LABEL_evict_normal>(stage + part * Left::kBytes, map_left, tile.row,
                                                                     block * kBlockK, matrix, barrier, rank_n,
                                                                     mask_left, policy(LEFT_CACHE_HINT));
        Right::load<CLUSTER_M, RIGHT_CACHE_HINT != LABEL_evict_normal>(
            stage + kLeftBytes + part * Right::kBytes, map_right, right_origin + tile.column, block * kBlockK, matrix,
            barrier, rank_m, mask_right, policy(RIGHT_CACHE_HINT));
      }
      to.advance();
    }
  }
  if constexpr (kCluster > 1) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_wait(empty + 8 * to.stage, to.parity);
      to.advance();
    }
  }
}

}  // namespace pgtune::product
