// SPDX-License-Identifier: MIT
// tile_order.cuh's order for kernels that start with it and end with it: a division by a number that only the kernel's
// arguments tell takes longer than all the rest of finding a tile, so the host divides.
#pragma once

#include "device/tile_order.cuh"

namespace pgtune {

/// n / by, for n < 2^31. `inverse` is (2^31 - 1) / by, rounded down: n times it, divided by 2^31, is the quotient or
/// one less.
__device__ __forceinline__ unsigned prepared_quotient(unsigned n, unsigned by, int inverse) {
  const auto product = static_cast<unsigned long long>(2 * n) * static_cast<unsigned>(inverse);
  const unsigned about = static_cast<unsigned>(product >> 32);
  return n - about * by >= by ? about + 1 : about;
}

/// Tiles in bands of kBand tile rows or columns, as ordered_tile() has them.
template <bool kBandsAlongN, unsigned kBand>
struct PreparedOrder {
  unsigned rows, columns;
  int batches;
  int along_inverse;  ///< (2^31 - 1) / tiles along a band
  int last_inverse;   ///< (2^31 - 1) / tiles across the last band, where those are fewer than kBand

  __device__ __forceinline__ TileAt tile(unsigned index) const {
    unsigned batch = 0;
    if (batches > 1) {
      batch = index / (rows * columns);
      index -= batch * (rows * columns);
    }
    const unsigned across = kBandsAlongN ? columns : rows, along = kBandsAlongN ? rows : columns;
    const unsigned band = across <= kBand ? 0 : prepared_quotient(index / kBand, along, along_inverse);
    index -= band * kBand * along;
    const unsigned left = across - band * kBand, width = left < kBand ? left : kBand;
    const unsigned step = left < kBand ? prepared_quotient(index, left, last_inverse) : index / kBand;
    const int a = static_cast<int>(band * kBand + index - step * width), b = static_cast<int>(step);
    return kBandsAlongN ? TileAt{b, a, static_cast<int>(batch)} : TileAt{a, b, static_cast<int>(batch)};
  }
};

}  // namespace pgtune
