// SPDX-License-Identifier: MIT
// The feeding threads of sgemm_tma.cu: one for each slice asks the copy engine for its tiles; where operands are
// turned, whole warps do.
#pragma once

#include "device/mainloop/sgemm_tma_config.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/tma.cuh"

namespace {

/// Where the operands are copied from.
struct Operands {
  const pgtune::TensorMap &map_a, &map_b;
  int b_origin;  ///< where B's columns start in its map
};

/// Asks for the tiles at (tile, k), for one stage of a slice.
__device__ __forceinline__ void ask(const Operands& from, const Slice& slice, int stage, const pgtune::TileAt& tile,
                                    int k) {
  const unsigned barrier = slice.raw + 8 * stage;
  const unsigned to_a = pgtune::shared_address(slice.stages + kStageFloats * stage);
  const unsigned to_b = to_a + 4 * OperandA::kFloats;
  // The stage was last written by turning it.
  if (kTurns) pgtune::async_fence();
  pgtune::barrier_arrive_expect(barrier, 4 * kStageFloats);  // its release also publishes the announcement
  // From K on, zeros arrive: the slices take the same number of k-blocks.
  const int n = from.b_origin + tile.column;
  pgtune::load_box(to_a, from.map_a, TURNS_A ? k : tile.row, TURNS_A ? tile.row : k, tile.batch, barrier);
  pgtune::load_box(to_b, from.map_b, TURNS_B ? k : n, TURNS_B ? n : k, tile.batch, barrier);
}

/// Fills a slice's stages with all that its worker computes. `warp` is one of kFeeders.
__device__ __forceinline__ void feed(const Operands& from, const Sizes& sizes, const Slice& slice, unsigned finished,
                                     int worker, int workers, int lane, int warp) {
  const bool tells = warp == 0 && lane == 0;
  const pgtune::TileWork work = sizes.work(workers);
  pgtune::Segment segment;
  bool more = work.segment(segment, 0, worker);
  RingPlace to{0, 1}, filled{0, 0};
  int entry = 0, unturned = 0;
  for (int i = 0; more; ++i) {
    const pgtune::TileAt tile = sizes.tile(segment.tile);
    const int k_first = segment.first * kDepth + slice.number * BK, k_last = segment.last * kDepth;
    Announcement& announcement = slice.announcements[entry];
    entry = entry + 1 == kAnnouncements ? 0 : entry + 1;
    if (kAdds && i > 0) pgtune::barrier_wait_cluster(finished, (i - 1) % 2);
    const Announcement told{tile, segment.last - segment.first, segment.first > 0, segment.last < work.blocks, false,
                            i};
    more = work.segment(segment, i + 1, worker);
    if (tells) {
      announcement = told;
      announcement.more = more;
    }
    // Tiles are turned some stages after they were asked for: what is left at the end in rounds that ask for nothing.
    const int k_end = k_last + (kTurns && (kAdds || !more) ? kTurnsBehind * kDepth : 0);
#pragma unroll 1
    for (int k = k_first; k < k_end; k += kDepth) {
      const bool asks_again = !kTurns || k < k_last;
      if (asks_again) {
        pgtune::barrier_wait(slice.empty + 8 * to.stage, to.parity);
        if (tells) ask(from, slice, to.stage, tile, k);
        to.advance();
        ++unturned;
      }
      if (kTurns && unturned > (asks_again ? kTurnsBehind : 0)) {
        pgtune::barrier_wait(slice.raw + 8 * filled.stage, filled.parity);
        float* const stage = slice.stages + kStageFloats * filled.stage;
        OperandA::turn(stage, lane, warp, kFeeders);
        OperandB::turn(stage + OperandA::kFloats, lane, warp, kFeeders);
        __syncwarp();
        if (lane == 0) pgtune::barrier_arrive(slice.full + 8 * filled.stage);
        filled.advance();
        --unturned;
      }
    }
  }
}

}  // namespace
