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

struct TileIndex {
  unsigned row, column;
};

/// Tiles are taken in bands of kBand tile rows, each walked column by column, so that the CTAs running at one time
/// share rows of A and columns of B in L2. `index` counts the tiles of a tile_rows x tile_columns grid.
template <unsigned kBand>
__device__ __forceinline__ TileIndex banded_tile(unsigned index, unsigned tile_rows, unsigned tile_columns) {
  // In 64 bits: a band may be larger than a grid that has fewer rows than kBand.
  const unsigned band = static_cast<unsigned>(index / (static_cast<unsigned long long>(kBand) * tile_columns));
  const unsigned in_band = index - band * kBand * tile_columns;
  const unsigned left = tile_rows - band * kBand;
  const unsigned rows = left < kBand ? left : kBand;
  return {band * kBand + in_band % rows, in_band / rows};
}

}  // namespace pgtune
