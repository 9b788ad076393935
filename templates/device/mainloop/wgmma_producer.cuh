// SPDX-License-Identifier: MIT
// The producer of gemm_wgmma: one thread has TMA fill the pipeline's stages, one after the other.
#pragma once

#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/programmatic_dependent_launch.cuh"
#include "device/scheduler/wgmma_scheduler.cuh"

namespace pgtune::product {

constexpr unsigned long long policy(long long hint) { return hint == LABEL_evict_first ? kEvictFirst : kEvictLast; }

/// In a chained problem the launch before writes no B, so that B's tiles of the first stages are loaded before it has
/// ended. Where a kernel of the same launch prepares operands, all waits for that one.
constexpr bool kOverlapsLaunchBefore = DEPENDENT_LAUNCH && !PREPARES;

/// The maps of an operand: of its tiles, and of its last tile, whose boxes end where the operand does.
struct OperandMaps {
  const TensorMap& full;
  const TensorMap& last;
};

/// Issues the loads of all work tiles of a CTA, of which `at` is the first. Operands in parts are batches of PARTS
/// matrices.
__device__ __forceinline__ void produce(const OperandMaps& of_left, const OperandMaps& of_right, const Sizes& sizes,
                                        TileScheduler& at, int right_origin, unsigned stages, unsigned full,
                                        unsigned empty, int rank) {
  // CTAs with the same rows share the left tile, those with the same columns share the right one.
  const int rank_m = rank % CLUSTER_M, rank_n = rank / CLUSTER_M;
  unsigned mask_left = 0, mask_right = 0;
#pragma unroll
  for (int i = 0; i < CLUSTER_N; ++i) mask_left |= 1u << (rank_m + i * CLUSTER_M);
#pragma unroll
  for (int i = 0; i < CLUSTER_M; ++i) mask_right |= 1u << (i + rank_n * CLUSTER_M);

  Left::Loaded left;
  Right::Loaded right;
  const TensorMap *map_left, *map_right;
  unsigned bytes;  // of a stage
  const auto find_loads = [&] {
    left = Left::loaded<CLUSTER_N>(sizes.rows - at.tile.row);
    right = Right::loaded<CLUSTER_M>(sizes.columns - at.tile.column);
    map_left = left.lines < Left::kLines ? &of_left.last : &of_left.full;
    map_right = right.lines < Right::kLines ? &of_right.last : &of_right.full;
    bytes = PARTS * (left.bytes() + right.bytes());
  };
  const auto load_left = [&](int index, int block, int part) {
    Left::load<CLUSTER_N, LEFT_CACHE_HINT != LABEL_evict_normal>(
        stages + kStageBytes * index + part * Left::kBytes, *map_left, left, at.tile.row, block * kBlockK,
        at.tile.batch * PARTS + part, full + 8 * index, rank_n, mask_left, policy(LEFT_CACHE_HINT));
  };
  const auto load_right = [&](int index, int block, int part) {
    Right::load<CLUSTER_M, RIGHT_CACHE_HINT != LABEL_evict_normal>(
        stages + kStageBytes * index + kLeftBytes + part * Right::kBytes, *map_right, right,
        right_origin + at.tile.column, block * kBlockK, at.tile.batch * PARTS + part, full + 8 * index, rank_m,
        mask_right, policy(RIGHT_CACHE_HINT));
  };

  PipelineState<STAGES> to{0, 1};
  int loaded = 0;  // k-blocks of the first tile
  if constexpr (kOverlapsLaunchBefore) {
    griddepcontrol_launch_dependents();
    if (at.valid) loaded = min(at.work_tile.blocks(), STAGES);
    find_loads();
    for (int i = 0; i < loaded; ++i) {
      mbarrier_arrive_expect_tx(full + 8 * i, bytes);
      const int block = at.work_tile.first + i * kBlockStride;
      SWAP_AB ? load_left(i, block, 0) : load_right(i, block, 0);
    }
    griddepcontrol_wait();
    for (int i = 0; i < loaded; ++i) {
      const int block = at.work_tile.first + i * kBlockStride;
      SWAP_AB ? load_right(i, block, 0) : load_left(i, block, 0);
      to.advance();
    }
  } else if constexpr (DEPENDENT_LAUNCH || DECOMPOSITION != LABEL_data_parallel) {
    griddepcontrol_wait();  // for prepared operands and cleared flags
  }
  for (; at.valid; at.next()) {
    const WorkTile work_tile = at.work_tile;
    find_loads();
#pragma unroll 1
    for (int block = work_tile.first + loaded * kBlockStride; block < work_tile.last; block += kBlockStride) {
      mbarrier_wait(empty + 8 * to.stage, to.parity);
      mbarrier_arrive_expect_tx(full + 8 * to.stage, bytes);
#pragma unroll
      for (int part = 0; part < PARTS; ++part) {
        load_left(to.stage, block, part);
        load_right(to.stage, block, part);
      }
      to.advance();
    }
    loaded = 0;
  }
  if constexpr (kCluster > 1) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_wait(empty + 8 * to.stage, to.parity);
      to.advance();
    }
  }
}

}  // namespace pgtune::product
