// SPDX-License-Identifier: MIT
// The order in which the CTAs of a grid take the tiles of D.
#pragma once

namespace pgtune {

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
