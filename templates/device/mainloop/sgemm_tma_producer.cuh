// SPDX-License-Identifier: MIT
// The producer of sgemm_tma: one thread of each slice issues the TMA loads; where operands are copied by cp.async or
// transposed in shared memory, whole warps take part.
#pragma once

#include "device/copy/panel_copy.cuh"
#include "device/mainloop/sgemm_tma_config.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/tma.cuh"

namespace {

/// Where the operands are loaded from.
struct Operands {
  const pgtune::TensorMap &map_a, &map_b;
  int b_origin;              ///< where B's columns start in its map
  pgtune::FloatSource a, b;  ///< as they lie, for those that cp.async copies
};

template <bool kAlongK, int kExtent, int kPiece>
using Copy = pgtune::PanelCopy<kAlongK, kExtent, BK, kPiece == 0 ? 4 : kPiece, 32 * kProducerWarps>;
using CopyA = Copy<SMEM_TRANSPOSE_A, BM, PIECE_A>;
using CopyB = Copy<SMEM_TRANSPOSE_B, BN, PIECE_B>;

/// Issues TMA's loads of a slice's stage: the tiles at (tile, k).
__device__ __forceinline__ void load_stage(const Operands& from, const Slice& slice, int stage,
                                           const pgtune::TileCoord& tile, int k) {
  const unsigned barrier = slice.raw + 8 * stage;
  const unsigned to_a = pgtune::shared_address(slice.stages + kStageFloats * stage);
  const unsigned to_b = to_a + 4 * OperandA::kFloats;
  // The transposition wrote to the stage last.
  if (kTransposes) pgtune::fence_proxy_async();
  constexpr int kFloats = (PIECE_A == 0 ? OperandA::kFloats : 0) + (PIECE_B == 0 ? OperandB::kFloats : 0);
  pgtune::mbarrier_arrive_expect_tx(barrier, 4 * kFloats);  // its release also publishes the work_tile
  // Beyond K zeros arrive: the slices take the same number of k-blocks.
  const int n = from.b_origin + tile.column;
  if (PIECE_A == 0) {
    pgtune::tma_load(to_a, from.map_a, SMEM_TRANSPOSE_A ? k : tile.row, SMEM_TRANSPOSE_A ? tile.row : k, tile.batch,
                     barrier);
  }
  if (PIECE_B == 0) {
    pgtune::tma_load(to_b, from.map_b, SMEM_TRANSPOSE_B ? k : n, SMEM_TRANSPOSE_B ? n : k, tile.batch, barrier);
  }
}

/// Copies this thread's share of a slice's stage; it arrives when that is there.
__device__ __forceinline__ void copy_stage(CopyA& of_a, CopyB& of_b, const Slice& slice, int stage) {
  const unsigned to_a = pgtune::shared_address(slice.stages + kStageFloats * stage);
  if constexpr (PIECE_A > 0) of_a.next(to_a, kBlockK, pgtune::cp_async_or_zero<PIECE_A, 0>);
  if constexpr (PIECE_B > 0) {
    of_b.next(to_a + 4 * OperandA::kFloats, kBlockK, pgtune::cp_async_or_zero<PIECE_B, 0>);
  }
  pgtune::mbarrier_arrive_after_copies(slice.raw + 8 * stage);
}

/// Fills a slice's stages with all tiles that its worker computes. `warp` is one of kProducerWarps.
__device__ __forceinline__ void produce(const Operands& from, const Sizes& sizes, const Slice& slice, unsigned finished,
                                        int worker, int workers, int lane, int warp) {
  const bool tells = warp == 0 && lane == 0;
  const pgtune::TileWork work = sizes.work(workers);
  pgtune::Segment segment;
  bool more = work.segment(segment, 0, worker);
  PipelineState to{0, 1}, filled{0, 0};
  int entry = 0, untransposed = 0;
  for (int i = 0; more; ++i) {
    const pgtune::TileCoord tile = sizes.tile(segment.tile);
    const int k_first = segment.first * kBlockK + slice.number * BK, k_last = segment.last * kBlockK;
    CopyA of_a(from.a, sizes.m, sizes.k, tile.row, k_first, tile.batch, 32 * warp + lane);
    CopyB of_b(from.b, sizes.n, sizes.k, tile.column, k_first, tile.batch, 32 * warp + lane);
    WorkTileInfo& work_tile = slice.work_tiles[entry];
    entry = entry + 1 == kWorkTileInfos ? 0 : entry + 1;
    if (kReduces && i > 0) pgtune::mbarrier_wait_cluster(finished, (i - 1) % 2);
    const WorkTileInfo told{tile, segment.last - segment.first, segment.first > 0, segment.last < work.blocks, false,
                            i};
    more = work.segment(segment, i + 1, worker);
    if (tells) {
      work_tile = told;
      work_tile.more = more;
    }
    // Tiles are transposed some stages after they were loaded; the last iterations transpose what is left and load
    // nothing.
    const int k_end = k_last + (kTransposes && (kReduces || !more) ? kTransposeLag * kBlockK : 0);
#pragma unroll 1
    for (int k = k_first; k < k_end; k += kBlockK) {
      const bool loads = !kTransposes || k < k_last;
      if (loads) {
        pgtune::mbarrier_wait(slice.empty + 8 * to.stage, to.parity);
        if (tells) load_stage(from, slice, to.stage, tile, k);
        if constexpr (kCopies) copy_stage(of_a, of_b, slice, to.stage);
        to.advance();
        ++untransposed;
      }
      if (kTransposes && untransposed > (loads ? kTransposeLag : 0)) {
        pgtune::mbarrier_wait(slice.raw + 8 * filled.stage, filled.parity);
        float* const stage = slice.stages + kStageFloats * filled.stage;
        OperandA::transpose(stage, lane, warp, kProducerWarps);
        OperandB::transpose(stage + OperandA::kFloats, lane, warp, kProducerWarps);
        __syncwarp();
        if (lane == 0) pgtune::mbarrier_arrive(slice.full + 8 * filled.stage);
        filled.advance();
        --untransposed;
      }
    }
  }
  if constexpr (kCopies) pgtune::cp_async_wait_all();
}

}  // namespace
