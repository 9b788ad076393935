// SPDX-License-Identifier: MIT
// What the feeding and the computing threads of sgemm_tma.cu agree on: tiles, stages, barriers. Its macros are those of
// the template's configuration.
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
constexpr bool kTurns = TURNS_A || TURNS_B;
constexpr pgtune::Sharing kSharing = SCHEDULE == LABEL_stream  ? pgtune::Sharing::kStream
                                     : SCHEDULE == LABEL_split ? pgtune::Sharing::kSplit
                                                               : pgtune::Sharing::kNone;
constexpr int kComputing = SLICES * THREADS, kAsking = 128;
/// Warps that turn a slice's operands, or where nobody needs to, the one that asks for them.
constexpr int kFeeders = kTurns ? kAsking / 32 / SLICES : 1;
/// Tiles asked for after the one that is turned: more copies under way while it is awaited. All but two stages at most,
/// because a stage is given back when the next one is there.
constexpr int kTurnsBehind = STAGES - 2;

constexpr pgtune::Order kOrder = ORDER == LABEL_rows      ? pgtune::Order::kRows
                                 : ORDER == LABEL_columns ? pgtune::Order::kColumns
                                                          : pgtune::Order::kColumnsUpward;

constexpr bool kAdds = SLICES * CLUSTER > 1;
constexpr int kDepth = BK * SLICES * CLUSTER;  ///< steps of k that a tile's slices take at once

using OperandA = pgtune::Operand<TURNS_A, BM, BK, TM, LANES_M>;
using OperandB = pgtune::Operand<TURNS_B, BN, BK, TN, kLanesN>;
constexpr int kStageFloats = OperandA::kFloats + OperandB::kFloats;
using SliceSums = pgtune::SliceSums<TM, TN, SLICES, CLUSTER, THREADS, STAGES * kStageFloats>;
constexpr int kOwnPieces = SliceSums::kOwnPieces;
using SharedSums = pgtune::SharedSums<kOwnPieces * 4, kComputing, true>;
constexpr int kEverybody = 1 + SLICES;  ///< the named barrier of all computing threads

struct Sizes {
  int m, n, k, batches;
  __device__ __forceinline__ unsigned tile_rows() const { return (m - 1) / BM + 1; }
  __device__ __forceinline__ unsigned tile_columns() const { return (n - 1) / BN + 1; }
  __device__ __forceinline__ pgtune::TileWork work(int workers) const {
    return {static_cast<int>(tile_rows() * tile_columns()) * batches, (k - 1) / kDepth + 1, workers, kSharing};
  }
  /// Where a tile starts.
  __device__ __forceinline__ pgtune::TileAt tile(unsigned index) const {
    const auto at = pgtune::ordered_tile<false, RASTER>(index, tile_rows(), tile_columns(), batches);
    return {at.row * BM, at.column * BN, at.batch};
  }
};

using RingPlace = pgtune::RingPlace<STAGES>;

/// What the asking thread tells its slice about a segment it asks for.
struct Announcement {
  pgtune::TileAt tile;            ///< where it starts
  int k_blocks;                   ///< of this segment, for each slice
  bool shares_start, shares_end;  ///< other workers have the k-blocks before, or after
  bool more;                      ///< another segment follows
  int segment;                    ///< its number
};
/// A segment's announcement is read to its end. By then its last stage may be asked for again, STAGES k-blocks, hence
/// segments, later, and one more announced.
constexpr int kAnnouncements = STAGES + 2;

/// A slice's part of the CTA's shared memory.
struct Slice {
  float* stages;
  Announcement* announcements;
  unsigned full, empty, raw;  ///< barriers of stage 0
  int number;                 ///< of the tile's slices
};

}  // namespace
