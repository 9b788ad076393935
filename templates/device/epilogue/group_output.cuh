// SPDX-License-Identifier: MIT
// The epilogue of products of groups of rows: D ends where a group does, at any row, which TMA's boxes cannot. Each
// warp passes its 16 rows of the product through a box of its own in shared memory, from which it stores whole pieces
// of 16 bytes, neighbours side by side.
#pragma once

#include "device/epilogue/wgmma_box.cuh"
#include "device/ptx/copy_piece.cuh"
#include "device/ptx/special_registers.cuh"

namespace pgtune {

/// kSwapped: the product's rows are columns of D. kColumns: that a warp stores of a row of the product.
template <bool kSwapped, Type16 kType, int kColumns>
struct GroupOutput {
  static constexpr int kSpan = kSwapped ? 32 : kColumns % 64 == 0 ? 128 : kColumns % 32 == 0 ? 64 : 32;
  using Box = WgmmaBox<kSwapped, 2, kType, kColumns, kSpan, 8>;
  static_assert(kColumns % Box::kSlab == 0, "boxes must be whole");

  /// Stores the accumulators of the warp's 16 rows and of kColumns columns. `row` and `column` are D's first of them,
  /// `end` is behind the group's last row; rows of D have `columns` elements, a multiple of 8.
  static __device__ __forceinline__ void write(const float* acc, unsigned short* d, int row, int end, int column,
                                               int columns, unsigned box) {
    const int lane = lane_index();
#pragma unroll
    for (int first = 0; first < kColumns; first += Box::kSlab) {
      __syncwarp();  // the box before has been read
      Box::fill(acc + first / 2, box, lane);
      __syncwarp();
      const int box_row = row + (kSwapped ? first : 0), box_column = column + (kSwapped ? 0 : first);
      Box::each_piece(d + static_cast<long long>(box_row) * columns + box_column, columns, end - box_row,
                      columns - box_column, box, lane, [](unsigned place, const unsigned short* at, bool exists) {
                        if (exists) copy_piece_to_global(const_cast<unsigned short*>(at), place);
                      });
    }
  }
};

}  // namespace pgtune
