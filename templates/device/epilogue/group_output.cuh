// SPDX-License-Identifier: MIT
// The epilogue of products of groups of rows: D ends where a group does, at any row, which TMA's boxes cannot. Each
// warp passes its 16 rows of the product through boxes of its own in shared memory. From a single box it stores whole
// pieces of 16 bytes, neighbours side by side, before it fills it again. With a box for each part of its tile TMA
// stores them while the next tile is computed, and threads only what a group ends in.
#pragma once

#include "device/epilogue/wgmma_box.cuh"
#include "device/ptx/copy_piece.cuh"
#include "device/ptx/special_registers.cuh"
#include "device/ptx/tma.cuh"

namespace pgtune {

/// kSwapped: the product's rows are columns of D. kColumns: that a warp stores of a row of the product.
template <bool kSwapped, Type16 kType, int kColumns, bool kByTma>
struct GroupOutput {
  static constexpr int kSpan = kSwapped ? 32 : kColumns % 64 == 0 ? 128 : kColumns % 32 == 0 ? 64 : 32;
  static constexpr int kLines = !kSwapped ? 16 : kColumns % 64 == 0 ? 64 : kColumns & -kColumns;  ///< of a box
  using Box = WgmmaBox<kSwapped, 2, kType, kLines, kSpan, 8>;
  static constexpr int kBytes = kByTma ? kColumns / Box::kSlab * Box::kBytes : Box::kBytes;  ///< of boxes, for 16 rows
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
  /// `end` is behind the group's last row; rows of D have `columns` elements, a multiple of 8.
  static __device__ __forceinline__ void write(const float* acc, const TensorMap* map, unsigned short* d, int row,
                                               int end, int column, int columns, unsigned boxes) {
    if (!kSwapped && row >= end) return;
    const int lane = lane_index();
    const auto store_pieces = [&](int first, unsigned box) {
      const int box_row = row + (kSwapped ? first : 0), box_column = column + (kSwapped ? 0 : first);
      Box::each_piece(d + static_cast<long long>(box_row) * columns + box_column, columns, end - box_row,
                      columns - box_column, box, lane, [](unsigned place, const unsigned short* at, bool exists) {
                        if (exists) copy_piece_to_global(const_cast<unsigned short*>(at), place);
                      });
    };
    if constexpr (kByTma) {
      const auto box_of = [&](int first) { return boxes + first / Box::kSlab * Box::kBytes; };
#pragma unroll
      for (int first = 0; first < kColumns; first += Box::kSlab) Box::fill(acc + first / 2, box_of(first), lane);
      fence_proxy_async();
      __syncwarp();
      const bool whole = row + 16 <= end;
#pragma unroll
      for (int first = 0; first < kColumns; first += Box::kSlab) {
        if (!whole) {
          store_pieces(first, box_of(first));
        } else if (lane == 0) {
          tma_store<false>(*map, box_of(first), column + first, row, 0);
          tma_store_commit();
        }
      }
    } else {
#pragma unroll
      for (int first = 0; first < kColumns; first += Box::kSlab) {
        __syncwarp();  // the box before has been read
        Box::fill(acc + first / 2, boxes, lane);
        __syncwarp();
        store_pieces(first, boxes);
      }
    }
  }
};

}  // namespace pgtune
