// SPDX-License-Identifier: MIT
// How persistent workers share the tiles of groups of rows: those of the first group, then those of the second, and so
// on, dealt to the workers in turn.
#pragma once

#include "device/scheduler/group_tile.cuh"
#include "device/scheduler/rasterization.cuh"

namespace pgtune {

template <class Groups>
constexpr bool kIsOneGroup = false;
template <>
constexpr bool kIsOneGroup<OneGroup> = true;

/// A worker's tiles: every `step`-th one from `first` on. A tile has kRows rows, and `columns` of them lie side by
/// side; those of a group are in the order of rasterized_tile(). Whole warps call its functions: each lane looks after
/// one of 32 groups, so that finding a tile among many groups takes a few shuffles.
template <int kRows, bool kAlongM, unsigned kRasterGroup, class Groups>
class GroupTileWalk {
 public:
  __device__ __forceinline__ GroupTileWalk(const Groups& of, unsigned columns, unsigned first, unsigned step)
      : groups_(of), columns_(columns), step_(step), index_(first) {
    count();
    find();
  }
  __device__ __forceinline__ void next() {
    ++number;
    index_ += step_;
    find();
  }

  int number = 0;  ///< counts the worker's tiles before this one
  bool valid;      ///< whether there is one
  int group;
  int row;     ///< the tile's first, of the whole matrix
  int end;     ///< behind its group's last row
  int column;  ///< counts tiles from the left

 private:
  /// Counts the tiles of this lane's group and of those of lower lanes.
  __device__ __forceinline__ void count() {
    rows_ = {0, 0};
    if constexpr (kIsOneGroup<Groups>) {
      rows_ = groups_.range(0);
      upto_ = (rows_.end + kRows - 1) / kRows * columns_;
    } else {
      const int lane = lane_index(), own = first_group_ + lane;
      if (own < groups_.groups) rows_ = groups_.range(own);
      upto_ = (rows_.end - rows_.first + kRows - 1) / kRows * columns_;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned before = __shfl_up_sync(0xffffffff, upto_, distance);
        if (lane >= distance) upto_ += before;
      }
    }
  }
  __device__ __forceinline__ void find() {
    unsigned upto = upto_;
    RowRange rows = rows_;
    if constexpr (kIsOneGroup<Groups>) {
      valid = index_ < upto_;
      group = 0;
    } else {
      while (true) {
        const unsigned all = __shfl_sync(0xffffffff, upto_, 31);
        valid = index_ < before_ + all;
        if (valid) break;
        before_ += all;
        first_group_ += 32;
        if (first_group_ >= groups_.groups) return;
        count();
      }
      const int lane = __popc(__ballot_sync(0xffffffff, before_ + upto_ <= index_));
      upto = before_ + __shfl_sync(0xffffffff, upto_, lane);
      rows = {__shfl_sync(0xffffffff, rows_.first, lane), __shfl_sync(0xffffffff, rows_.end, lane)};
      group = first_group_ + lane;
    }
    const unsigned tile_rows = (rows.end - rows.first + kRows - 1) / kRows;
    const TileCoord at =
        rasterized_tile<kAlongM, kRasterGroup>(index_ - (upto - tile_rows * columns_), tile_rows, columns_, 1);
    row = rows.first + at.row * kRows;
    end = rows.end;
    column = at.column;
  }

  const Groups groups_;
  unsigned columns_, step_, index_;
  unsigned before_ = 0;  ///< tiles of groups before first_group_
  int first_group_ = 0;  ///< lane 0's
  unsigned upto_;        ///< tiles of the groups from first_group_ to this lane's
  RowRange rows_;        ///< of this lane's group
};

}  // namespace pgtune
