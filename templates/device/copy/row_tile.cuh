// SPDX-License-Identifier: MIT
// Copies tiles of rows that lie along K from global to shared memory, by cp.async of 16 bytes.
#pragma once

#include "device/ptx/cp_async.cuh"

namespace pgtune {

/// Tile is an MmaTile along K. Rows begin at multiples of 16 bytes, and have a multiple of 16 bytes.
template <typename Tile, int kThreads>
struct RowTileCopy {
  static constexpr int kPieces = Tile::kLines * Tile::kLinePieces;
  static_assert(Tile::kAlongK && kPieces % kThreads == 0, "threads share the tile evenly");

  const char* matrix;  ///< its first row, which can be read
  long long row_bytes;
  int first, end;  ///< rows of the matrix: the tile's first, and where the tile's last may be

  __device__ __forceinline__ RowTileCopy(const char* of, long long bytes, int first_row, int end_row)
      : matrix(of), row_bytes(bytes), first(first_row), end(end_row) {}

  /// Starts copying the bytes from `from` on of each row to `stage`; what lies outside becomes zero.
  __device__ __forceinline__ void start(unsigned stage, long long from) const {
#pragma unroll
    for (int c = 0; c < kPieces / kThreads; ++c) {
      const int piece = c * kThreads + static_cast<int>(threadIdx.x);
      const int line = piece / Tile::kLinePieces, byte = piece % Tile::kLinePieces * 16;
      const bool inside = first + line < end && from + byte < row_bytes;
      const char* const at = inside ? matrix + (first + line) * row_bytes + from + byte : matrix;
      cp_async_zero_fill<16, true>(stage + Tile::place(line, byte), reinterpret_cast<const float*>(at), inside ? 16 : 0,
                                   true);
    }
  }
};

}  // namespace pgtune
