// SPDX-License-Identifier: MIT
// The epilogue of products of groups of rows: D ends where a group does, at any row, which TMA's boxes cannot. Each
// warp passes its 16 rows of the product through boxes of its own in shared memory. From a single box it stores whole
// pieces of 16 bytes, neighbours side by side, before it fills it again. With more boxes TMA stores them, and threads
// only what a group ends in: from two boxes while the warp fills the other one, or from boxes for its whole tile while
// the next tile is computed.
#pragma once

#include "device/epilogue/wgmma_box.cuh"
#include "device/ptx/copy_piece.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/ptx/tma.cuh"

namespace pgtune {

/// How D is stored, and from how many boxes.
enum class GroupStore { kPieces, kTwoBoxes, kBoxesOfTile };

/// kSwapped: the product's rows are columns of D. kParts: how many times 16 rows of the product a warp stores of a
/// tile, and kColumns: how many columns of them.
template <bool kSwapped, Type16 kType, GroupStore kStore, int kParts, int kColumns>
struct GroupOutput {
  static constexpr bool kByTma = kStore != GroupStore::kPieces;
  static constexpr int kSpan = kSwapped ? 32 : kColumns % 64 == 0 ? 128 : kColumns % 32 == 0 ? 64 : 32;
  static constexpr int kLines = !kSwapped ? 16 : kColumns % 64 == 0 ? 64 : kColumns & -kColumns;  ///< of a box
  using Box = WgmmaBox<kSwapped, 2, kType, kLines, kSpan, 8>;
  static constexpr int kBoxesOfPart = kColumns / Box::kSlab;
  static constexpr int kAtOnce =
      kStore == GroupStore::kBoxesOfTile ? kBoxesOfPart : 1;  ///< filled before they are stored
  static constexpr int kBoxes = kStore == GroupStore::kPieces     ? 1
                                : kStore == GroupStore::kTwoBoxes ? 2
                                                                  : kParts * kBoxesOfPart;
  static constexpr int kBytes = kBoxes * Box::kBytes;  ///< of shared memory, for each warp
  static_assert(kColumns % Box::kSlab == 0, "boxes must be whole");
  static_assert(!kByTma || !kSwapped, "TMA's boxes are for rows of D");

  /// Called by a warp before the first write() of a tile: TMA has read what the boxes held.
  static __device__ __forceinline__ void begin() {
    if constexpr (kByTma) {
      if (lane_index() == 0) tma_store_wait_read<0>();
      __syncwarp();
    }
  }

  /// Stores the accumulators of the warp's 16 rows and of kColumns columns. `row` and `column` are D's first of them,
  /// `end` is behind the group's last row; rows of D have `columns` elements, a multiple of 8. `part`, a compile-time
  /// constant after unrolling, says how often this tile has been stored from before.
  static __device__ __forceinline__ void write(const float* acc, const TensorMap& map, unsigned short* d, int row,
                                               int end, int column, int columns, unsigned boxes, int part) {
    if (!kSwapped && row >= end) return;
    const int lane = lane_index();
    const bool whole = kByTma && row + 16 <= end;
    const auto store_pieces = [&](int first, unsigned box) {
      const int box_row = row + (kSwapped ? first : 0), box_column = column + (kSwapped ? 0 : first);
      Box::each_piece(d + static_cast<long long>(box_row) * columns + box_column, columns, end - box_row,
                      columns - box_column, box, lane, [](unsigned place, const unsigned short* at, bool exists) {
                        if (exists) copy_piece_to_global(const_cast<unsigned short*>(at), place);
                      });
    };
#pragma unroll
    for (int i = 0; i < kBoxesOfPart; i += kAtOnce) {
      const int number = part * kBoxesOfPart + i;
      const unsigned own = boxes + number % kBoxes * Box::kBytes;
      if constexpr (kByTma) {
        if (number >= kBoxes && lane == 0) tma_store_wait_read<kBoxes / kAtOnce - 1>();
      }
      __syncwarp();  // what these boxes held has been read
#pragma unroll
      for (int box = 0; box < kAtOnce; ++box)
        Box::fill(acc + (i + box) * Box::kSlab / 2, own + box * Box::kBytes, lane);
      if constexpr (kByTma) fence_proxy_async();
      __syncwarp();
#pragma unroll
      for (int box = 0; box < kAtOnce; ++box) {
        const int first = (i + box) * Box::kSlab;
        if (!whole) {
          store_pieces(first, own + box * Box::kBytes);
        } else if (lane == 0) {
          tma_store<false>(map, own + box * Box::kBytes, column + first, row, 0);
        }
      }
      if constexpr (kByTma) {
        if (lane == 0) tma_store_commit();  // a group for each turn, if an empty one
      }
    }
  }
};

}  // namespace pgtune
