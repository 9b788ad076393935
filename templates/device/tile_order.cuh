// SPDX-License-Identifier: MIT
// The order in which a kernel takes the tiles of a batch of products, in bands along M or along N.
#pragma once

namespace pgtune {

struct TileAt {
  int row, column, batch;
};

/// Bands of kBand tile rows walked column by column, or with kBandsAlongN of kBand tile columns walked row by row:
/// tiles under way at one time share rows of A and columns of B in L2.
template <bool kBandsAlongN, unsigned kBand>
__device__ __forceinline__ TileAt ordered_tile(unsigned index, unsigned rows, unsigned columns, int batches) {
  unsigned batch = 0;
  if (batches > 1) {
    batch = index / (rows * columns);
    index -= batch * (rows * columns);
  }
  const unsigned across = kBandsAlongN ? columns : rows, along = kBandsAlongN ? rows : columns;
  const unsigned band = across <= kBand ? 0 : index / (kBand * along);
  index -= band * kBand * along;
  const unsigned left = across - band * kBand, width = left < kBand ? left : kBand, step = index / width;
  const int a = static_cast<int>(band * kBand + index - step * width), b = static_cast<int>(step);
  return kBandsAlongN ? TileAt{b, a, static_cast<int>(batch)} : TileAt{a, b, static_cast<int>(batch)};
}

}  // namespace pgtune
