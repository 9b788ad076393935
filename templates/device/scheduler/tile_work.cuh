// SPDX-License-Identifier: MIT
// How persistent workers share the tiles of a product. Data-parallel: each worker takes whole tiles. Stream-K: where
// the tiles do not fill a whole number of waves, the first ones are split along K so that every worker computes the
// same number of k-blocks. Split-K: where there are few tiles, each is split into the same number of parts.
#pragma once

namespace pgtune {

enum class Decomposition { kDataParallel, kStreamK, kSplitK };

/// K-blocks `first` to `last` (exclusive) of a tile.
struct Segment {
  int tile, first, last;
};

/// The work of all workers, as plain arithmetic without state.
struct TileWork {
  int tiles, blocks;            ///< tiles, and k-blocks of each
  int workers;                  ///< for split-K a multiple of the tiles
  Decomposition decomposition;  ///< whether and how tiles are split along K

  /// Returns the workers of each tile with split-K.
  __device__ __forceinline__ int parts() const { return workers / tiles; }
  /// Returns how many tiles, the first ones, stream-K shares: those that do not fill whole waves and one wave more, so
  /// that every worker's part is at least a tile long and no tile has more than two workers. Where there are fewer
  /// tiles than workers it shares all.
  __device__ __forceinline__ int stream_k_tiles() const {
    if (decomposition != Decomposition::kStreamK || tiles % workers == 0) return 0;
    return tiles < workers ? tiles : tiles % workers + workers;
  }
  /// Returns where a worker's part of the shared k-blocks starts: their number * worker / workers, rounded down, in 32
  /// bits.
  __device__ __forceinline__ int cut(int worker) const {
    const unsigned shared = stream_k_tiles() * blocks, each = shared / workers, left = shared - each * workers;
    return static_cast<int>(each * worker + left * worker / workers);
  }
  /// Finds the i-th segment of a worker; returns false where it has no more. Shared tiles come first: the worker with
  /// the start of a tile finishes it, and by then the other workers have long written their parts.
  __device__ __forceinline__ bool segment(Segment& out, int i, int worker) const {
    if (decomposition == Decomposition::kSplitK) {
      const int part = worker % parts();
      const long long all = blocks;
      out.tile = worker / parts();
      out.first = static_cast<int>(all * part / parts());
      out.last = static_cast<int>(all * (part + 1) / parts());
      return i == 0;
    }
    const int begin = cut(worker), end = cut(worker + 1);
    const int first_tile = begin / blocks, count = begin < end ? (end - 1) / blocks - first_tile + 1 : 0;
    if (i < count) {
      out.tile = first_tile + i;
      out.first = max(begin - out.tile * blocks, 0);
      out.last = min(end - out.tile * blocks, blocks);
      return true;
    }
    out.tile = stream_k_tiles() + worker + (i - count) * workers;
    out.first = 0;
    out.last = blocks;
    return out.tile < tiles;
  }
};

}  // namespace pgtune
