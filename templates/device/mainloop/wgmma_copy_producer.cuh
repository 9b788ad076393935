// SPDX-License-Identifier: MIT
// The producer of gemm_wgmma without TMA: all threads of the producer warpgroup copy the operands' tiles by cp.async.
// It is for operands whose lines start between multiples of 128 bytes, where each line of a TMA box takes two requests,
// and for those that TMA cannot read, because their lines start between multiples of 16 bytes.
// Floats arrive as they are, where TMA rounds them to tf32: the tensor cores then truncate them.
#pragma once

#include "device/copy/wgmma_copy.cuh"
#include "device/mainloop/pipeline_state.cuh"
#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/scheduler/wgmma_scheduler.cuh"

namespace pgtune::product {

/// Copies the tiles of all work tiles of a CTA, of which `at` is the first. Each thread arrives at full[s] when its
/// part of stage s is there.
__device__ __forceinline__ void produce_by_copies(const CopySource& left, const CopySource& right, const Sizes& sizes,
                                                  TileScheduler& at, unsigned stages, unsigned full, unsigned empty) {
  const int thread = static_cast<int>(threadIdx.x) % 128;
  PipelineState<STAGES> to{0, 1};
  for (; at.valid; at.next()) {
    const int k = at.work_tile.first * kBlockK;
    WgmmaCopy<Left, LEFT_PIECE> of_left(left, sizes.rows, sizes.depth, at.tile.row, k, at.tile.batch, thread);
    WgmmaCopy<Right, RIGHT_PIECE> of_right(right, sizes.columns, sizes.depth, at.tile.column, k, at.tile.batch, thread);
#pragma unroll 1
    for (int left_over = at.work_tile.blocks(); left_over > 0; --left_over) {
      mbarrier_wait(empty + 8 * to.stage, to.parity);
      const unsigned stage = stages + kStageBytes * to.stage;
      of_left.next(stage, kBlockStride, cp_async_or_zero<LEFT_PIECE, L2_PROMOTION>);
      of_right.next(stage + kLeftBytes, kBlockStride, cp_async_or_zero<RIGHT_PIECE, L2_PROMOTION>);
      mbarrier_arrive_after_copies(full + 8 * to.stage);
      to.advance();
    }
  }
  cp_async_wait_all();
}

}  // namespace pgtune::product
