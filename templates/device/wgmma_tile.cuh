// SPDX-License-Identifier: MIT
// What gemm_wgmma's macros say about a tile: how it lies in shared memory and registers, and which tiles a worker
// computes.
#pragma once

#include "device/cluster.cuh"
#include "device/mbarrier.cuh"
#include "device/stream_k.cuh"
#include "device/tile_order.cuh"
#include "device/wgmma.cuh"
#include "device/wgmma_operand.cuh"

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

/// This CTA's place among those of its cluster that compute different tiles.
__device__ __forceinline__ int tile_rank() { return kCluster == 1 ? 0 : static_cast<int>(cluster_rank()); }
/// And among those that share a tile along K and finish a slice of it each.
__device__ __forceinline__ int part_rank(int worker) {
  return CLUSTER_K > 1 ? static_cast<int>(cluster_rank()) : SPLIT > 1 ? worker % SPLIT : 0;
}

/// The product's size in elements, and in tiles of a cluster.
struct Sizes {
  int rows, columns, depth, batches;
  __device__ __forceinline__ unsigned tile_rows() const { return (rows - 1) / (BM * CLUSTER_M) + 1; }
  __device__ __forceinline__ unsigned tile_columns() const { return (columns - 1) / (BN * CLUSTER_N) + 1; }
  __device__ __forceinline__ TileWork work(int workers) const {
    return {static_cast<int>(tile_rows() * tile_columns()) * batches, (depth - 1) / kDepth + 1, workers,
            SPLIT == 0   ? Sharing::kStream
            : SPLIT == 1 ? Sharing::kNone
                         : Sharing::kSplit};
  }
  /// Where in the product the tile of this CTA of the cluster starts.
  __device__ __forceinline__ TileAt tile(int index, int rank) const {
    const auto at = ordered_tile<BANDS == LABEL_n, BAND>(index, tile_rows(), tile_columns(), batches);
    return {(at.row * CLUSTER_M + rank % CLUSTER_M) * BM, (at.column * CLUSTER_N + rank / CLUSTER_M) * BN, at.batch};
  }
};

/// The i-th segment of a worker's work; false where there is none. In a cluster along K each CTA has its part of it.
__device__ __forceinline__ bool next_segment(Segment& segment, const TileWork& work, int i, int worker) {
  if (!work.segment(segment, i, worker)) return false;
  if constexpr (CLUSTER_K > 1) {
    const unsigned long long blocks = work.blocks, rank = part_rank(worker);
    segment.first = static_cast<int>(blocks * rank / CLUSTER_K);
    segment.last = static_cast<int>(blocks * (rank + 1) / CLUSTER_K);
  }
  return true;
}

}  // namespace pgtune::product
