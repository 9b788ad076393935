// SPDX-License-Identifier: MIT
// The tile scheduler of gemm_wgmma: which tiles, and which k-blocks of them, a worker computes.
#pragma once

#include "device/mainloop/wgmma_config.cuh"
#include "device/ptx/cluster.cuh"
#include "device/scheduler/rasterization.cuh"
#include "device/scheduler/tile_work.cuh"

namespace pgtune::product {

/// Returns this CTA's rank among those of its cluster that compute different tiles.
__device__ __forceinline__ int tile_rank() { return kCluster == 1 ? 0 : static_cast<int>(cluster_rank()); }
/// Returns its rank among the CTAs that share a tile along K and finish a slice of it each.
__device__ __forceinline__ int part_rank(int worker) {
  return CLUSTER_K > 1 ? static_cast<int>(cluster_rank()) : worker % SPLIT_K;
}

/// The product's size in elements, and in tiles of a cluster.
struct Sizes {
  int rows, columns, depth, batches;
  int along_inverse, last_inverse;  ///< of the tiles' order
  __device__ __forceinline__ unsigned tile_rows() const { return (rows - 1) / (BM * CLUSTER_M) + 1; }
  __device__ __forceinline__ unsigned tile_columns() const { return (columns - 1) / (BN * CLUSTER_N) + 1; }
  __device__ __forceinline__ TileWork work(int workers) const {
    return {static_cast<int>(tile_rows() * tile_columns()) * batches, (depth - 1) / kBlockK + 1, workers,
            DECOMPOSITION == LABEL_stream_k ? Decomposition::kStreamK : Decomposition::kDataParallel};
  }
  /// Returns where in the product the tile of this CTA of the cluster starts.
  __device__ __forceinline__ TileCoord tile(int index, int rank) const {
    const PreparedRasterization<RASTER_GROUP_AXIS == LABEL_n, RASTER_GROUP> order{tile_rows(), tile_columns(), batches,
                                                                                  along_inverse, last_inverse};
    const TileCoord at = order.tile(index);
    return {(at.row * CLUSTER_M + rank % CLUSTER_M) * BM, (at.column * CLUSTER_N + rank / CLUSTER_M) * BN, at.batch};
  }
};

/// The workers of a tile, or the CTAs of a cluster along K, take its k-blocks in turn: what they read at one time then
/// lies side by side in memory. This is the distance from one of a worker's k-blocks to the next.
constexpr int kBlockStride = CLUSTER_K > 1 ? CLUSTER_K : SPLIT_K;

/// K-blocks `first`, `first` + kBlockStride and so on before `last` of a tile.
struct WorkTile : Segment {
  __device__ __forceinline__ int blocks() const { return (last - first + kBlockStride - 1) / kBlockStride; }
};

/// A worker's work tiles, one after the other.
class TileScheduler {
 public:
  __device__ __forceinline__ TileScheduler(const Sizes& sizes, int worker, int workers)
      : sizes_(sizes), work_(sizes.work(workers)), worker_(worker) {
    find();
  }
  __device__ __forceinline__ void next() {
    ++number;
    find();
  }

  int number = 0;  ///< counts the work tiles before this one
  bool valid;      ///< whether there is one
  WorkTile work_tile;
  TileCoord tile;
  __device__ __forceinline__ const TileWork& work() const { return work_; }

 private:
  __device__ __forceinline__ void find() {
    if constexpr (SPLIT_K > 1) {
      valid = number == 0;
      work_tile.tile = worker_ / SPLIT_K;
      work_tile.last = work_.blocks;
    } else {
      valid = work_.segment(work_tile, number, worker_);
    }
    if constexpr (kBlockStride > 1) work_tile.first = part_rank(worker_);
    tile = sizes_.tile(work_tile.tile, tile_rank());
    // The asm makes the compiler compute this here, where there is time; it would wait until the accumulators are to be
    // stored.
    asm volatile("" ::"r"(tile.row), "r"(tile.column), "r"(tile.batch));
  }

  const Sizes& sizes_;
  TileWork work_;
  int worker_;
};

}  // namespace pgtune::product
