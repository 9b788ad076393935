// SPDX-License-Identifier: MIT
// What the producer and the consumers of sgemm_tma agree on: tiles, stages, barriers. The macros are those of the
// template's JSON.
#pragma once

#include "device/copy/thread_tile.cuh"
#include "device/epilogue/sliced_k_reduction.cuh"
#include "device/epilogue/stream_k_reduction.cuh"
#include "device/mainloop/ffma.cuh"
#include "device/mainloop/pipeline_state.cuh"
#include "device/scheduler/rasterization.cuh"
#include "device/scheduler/tile_work.cuh"

namespace {

constexpr int kLanesN = 32 / LANES_M;
constexpr int kWarpsN = BN / (TN * kLanesN);
constexpr int kWarps = THREADS / 32;
constexpr bool kTransposes = SMEM_TRANSPOSE_A || SMEM_TRANSPOSE_B;
/// cp.async copies an operand of which it takes pieces of some bytes.
constexpr bool kCopies = PIECE_A > 0 || PIECE_B > 0;
constexpr pgtune::Decomposition kDecomposition = DECOMPOSITION == LABEL_stream_k ? pgtune::Decomposition::kStreamK
                                                 : DECOMPOSITION == LABEL_split_k
                                                     ? pgtune::Decomposition::kSplitK
                                                     : pgtune::Decomposition::kDataParallel;
constexpr int kConsumerThreads = SLICED_K * THREADS, kProducerThreads = 128;
/// Producer warps of a slice: those that transpose or copy its operands, or the one that issues the loads where TMA
/// does it all.
constexpr bool kWarpsProduce = kTransposes || kCopies;
constexpr int kProducerWarps = kWarpsProduce ? kProducerThreads / 32 / SLICED_K : 1;
/// Arrivals until the bytes of a stage are there: of the thread that issues TMA's loads, and of each that copies.
constexpr int kLoaders = 1 + (kCopies ? 32 * kProducerWarps : 0);
/// Registers of a producer's thread, and what they leave to a consumer's.
constexpr int kProducerRegisters = kTransposes ? 56 : kCopies ? 40 : 24;
constexpr int kConsumerRegisters = kTransposes ? 224 : kCopies ? 232 : 240;
/// Tiles that are loaded after the one that is being transposed, so that more loads are in flight while it arrives. At
/// most all stages but two, because a stage is released when the next one has arrived.
constexpr int kTransposeLag = STAGES - 2;

constexpr pgtune::FfmaOrder kOrder = FFMA_ORDER == LABEL_row_serpentine      ? pgtune::FfmaOrder::kRowSerpentine
                                     : FFMA_ORDER == LABEL_column_serpentine ? pgtune::FfmaOrder::kColumnSerpentine
                                                                             : pgtune::FfmaOrder::kColumnSerpentineUp;

constexpr bool kReduces = SLICED_K * CLUSTER_K > 1;
constexpr int kBlockK = BK * SLICED_K * CLUSTER_K;  ///< steps of k that a tile's slices take at once

using OperandA = pgtune::Operand<SMEM_TRANSPOSE_A, BM, BK, TM, LANES_M>;
using OperandB = pgtune::Operand<SMEM_TRANSPOSE_B, BN, BK, TN, kLanesN>;
constexpr int kStageFloats = OperandA::kFloats + OperandB::kFloats;
using SlicedKReduction = pgtune::SlicedKReduction<TM, TN, SLICED_K, CLUSTER_K, THREADS, STAGES * kStageFloats>;
constexpr int kOwnPieces = SlicedKReduction::kOwnPieces;
using StreamKReduction = pgtune::StreamKReduction<kOwnPieces * 4, float, kConsumerThreads, true>;
constexpr int kAllConsumers = 1 + SLICED_K;  ///< the named barrier of all consumers

struct Sizes {
  int m, n, k, batches;
  __device__ __forceinline__ unsigned tile_rows() const { return (m - 1) / BM + 1; }
  __device__ __forceinline__ unsigned tile_columns() const { return (n - 1) / BN + 1; }
  __device__ __forceinline__ pgtune::TileWork work(int workers) const {
    return {static_cast<int>(tile_rows() * tile_columns()) * batches, (k - 1) / kBlockK + 1, workers, kDecomposition};
  }
  /// Returns where a tile starts.
  __device__ __forceinline__ pgtune::TileCoord tile(unsigned index) const {
    const auto at = pgtune::rasterized_tile<false, RASTER_GROUP>(index, tile_rows(), tile_columns(), batches);
    return {at.row * BM, at.column * BN, at.batch};
  }
};

using PipelineState = pgtune::PipelineState<STAGES>;

/// What the producer tells the consumers of its slice about a segment that it loads.
struct WorkTileInfo {
  pgtune::TileCoord tile;         ///< where it starts
  int k_blocks;                   ///< of this segment, for each slice
  bool shares_start, shares_end;  ///< other workers have the k-blocks before, or after
  bool more;                      ///< another segment follows
  int segment;                    ///< its number
};
/// Consumers read a segment's WorkTileInfo until its end. By then its last stage may have been loaded again, STAGES
/// k-blocks and so at most STAGES segments later, and one more may have been announced.
constexpr int kWorkTileInfos = STAGES + 2;

/// A slice's part of the CTA's shared memory.
struct Slice {
  float* stages;
  WorkTileInfo* work_tiles;
  unsigned full, empty, raw;  ///< barriers of stage 0
  int number;                 ///< of the tile's slices
};

}  // namespace
