// SPDX-License-Identifier: MIT
// What gemm_wgmma's macros say about a tile: how it lies in shared memory and registers, and which tiles a worker
// computes.
#pragma once

#include "device/copy/wgmma_operand.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/wgmma.cuh"

namespace pgtune::product {

constexpr bool kPingPong = SCHEDULE == LABEL_pingpong;
constexpr int kConsumers = COMPUTING;                       ///< warpgroups
constexpr int kTileWarps = kPingPong ? 4 : 4 * kConsumers;  ///< that compute a tile
constexpr int kThreads = (kConsumers + 1) * 128;
constexpr int kCluster = CLUSTER_M * CLUSTER_N;  ///< CTAs that compute tiles side by side, or below each other
constexpr bool kShares = SPLIT != 1;             ///< tiles are cut along K

constexpr int kDepth = DEPTH_BYTES / PART_BYTES;           ///< steps of K in a stage
constexpr int kInstructionDepth = 32 / PART_BYTES;         ///< and in an instruction
constexpr int kRows = BM / WARPGROUPS_M;                   ///< of the tile, for each warpgroup
constexpr int kInstructions = kRows / 64;                  ///< below each other
constexpr int kSums = kInstructions * kSumsOfInstruction;  ///< of a thread
using Sums = float[kInstructions][kSumsOfInstruction];
using Left = WgmmaOperand<LEFT_MN_MAJOR, BM, kDepth, PART_BYTES, LEFT_SPAN>;
using Right = WgmmaOperand<RIGHT_MN_MAJOR, BN, kDepth, PART_BYTES, RIGHT_SPAN>;
/// A stage holds the tiles of the left operand's PARTS, the largest part first, then those of the right one's.
constexpr int kLeftBytes = PARTS * Left::kBytes;
constexpr int kStageBytes = kLeftBytes + PARTS * Right::kBytes;
static_assert(kStageBytes < 1 << 20, "what a barrier can count");

/// Columns of a warpgroup's tile that each of those finishes that share the tile along K.
constexpr int kSliceColumns = INSTRUCTION_N / SLICES;

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
