// SPDX-License-Identifier: MIT
// Which tiles a worker of gemm_wgmma computes.
#pragma once

#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/cluster.cuh"
#include "device/scheduler/rasterization.cuh"
#include "device/scheduler/tile_work.cuh"

namespace pgtune::product {

/// This CTA's place among those of its cluster that compute different tiles.
__device__ __forceinline__ int tile_rank() { return kCluster == 1 ? 0 : static_cast<int>(cluster_rank()); }
/// And among those that share a tile along K and finish a slice of it each.
__device__ __forceinline__ int part_rank(int worker) {
  return CLUSTER_K > 1 ? static_cast<int>(cluster_rank()) : SPLIT > 1 ? worker % SPLIT : 0;
}

/// The product's size in elements, and in tiles of a cluster.
struct Sizes {
  int rows, columns, depth, batches;
  int along_inverse, last_inverse;  ///< of the tiles' order
  __device__ __forceinline__ unsigned tile_rows() const { return (rows - 1) / (BM * CLUSTER_M) + 1; }
  __device__ __forceinline__ unsigned tile_columns() const { return (columns - 1) / (BN * CLUSTER_N) + 1; }
  __device__ __forceinline__ TileWork work(int workers) const {
    return {static_cast<int>(tile_rows() * tile_columns()) * batches, (depth - 1) / kDepth + 1, workers,
            SPLIT == 0 ? Sharing::kStream : Sharing::kNone};
  }
  /// Where in the product the tile of this CTA of the cluster starts.
  __device__ __forceinline__ TileAt tile(int index, int rank) const {
    const PreparedOrder<BANDS == LABEL_n, BAND> order{tile_rows(), tile_columns(), batches, along_inverse,
                                                      last_inverse};
    const TileAt at = order.tile(index);
    return {(at.row * CLUSTER_M + rank % CLUSTER_M) * BM, (at.column * CLUSTER_N + rank / CLUSTER_M) * BN, at.batch};
  }
};

/// Workers of a tile, and CTAs of a cluster, that are dealt its k-blocks in turn: what they read at a time then lies
/// side by side in memory.
constexpr int kDealt = CLUSTER_K > 1 ? CLUSTER_K : SPLIT > 1 ? SPLIT : 1;

/// K-blocks `first`, `first` + kDealt and so on before `last` of a tile.
struct Piece : Segment {
  __device__ __forceinline__ int blocks() const { return (last - first + kDealt - 1) / kDealt; }
};

/// A worker's pieces, one after the other, and the tiles they are of.
class Pieces {
 public:
  __device__ __forceinline__ Pieces(const Sizes& sizes, int worker, int workers)
      : sizes_(sizes), work_(sizes.work(workers)), worker_(worker) {
    find();
  }
  __device__ __forceinline__ void next() {
    ++number;
    find();
  }

  int number = 0;  ///< of the pieces before this one
  bool there;      ///< whether there is one
  Piece piece;
  TileAt tile;
  __device__ __forceinline__ const TileWork& work() const { return work_; }

 private:
  __device__ __forceinline__ void find() {
    if constexpr (SPLIT > 1) {
      there = number == 0;
      piece.tile = worker_ / SPLIT;
      piece.last = work_.blocks;
    } else {
      there = work_.segment(piece, number, worker_);
    }
    if constexpr (kDealt > 1) piece.first = part_rank(worker_);
    tile = sizes_.tile(piece.tile, tile_rank());
    // Here, where there is time: the compiler would leave it for when the sums are to be written.
    asm volatile("" ::"r"(tile.row), "r"(tile.column), "r"(tile.batch));
  }

  const Sizes& sizes_;
  TileWork work_;
  int worker_;
};

}  // namespace pgtune::product
