// SPDX-License-Identifier: MIT
// Rasterization: the order in which CTAs take the tiles of D. Groups of tile rows are walked along N, or groups of tile
// columns along M, so that the tiles that are computed at one time share rows of A and columns of B in L2.
#pragma once

namespace pgtune {

struct TileCoord {
  int row, column, batch;
};

/// Returns the index of the last raster group of so many tiles. Behind others it is at least half as wide as they are,
/// and a narrower rest joins the one before. With nine rows of tiles, a last group of one took 6 to 14 % longer in two
/// problems on an H200, and as long in a third.
template <unsigned kGroup>
__device__ __forceinline__ unsigned last_raster_group(unsigned tiles_across) {
  return tiles_across < kGroup + kGroup / 2 ? 0 : (tiles_across + kGroup / 2) / kGroup - 1;
}

/// Returns the index-th tile of a batch: groups of kGroup tile rows are walked along N, or with kAlongM groups of
/// kGroup tile columns along M.
template <bool kAlongM, unsigned kGroup>
__device__ __forceinline__ TileCoord rasterized_tile(unsigned index, unsigned rows, unsigned columns, int batches) {
  unsigned batch = 0;
  if (batches > 1) {
    batch = index / (rows * columns);
    index -= batch * (rows * columns);
  }
  const unsigned across = kAlongM ? columns : rows, along = kAlongM ? rows : columns;
  const unsigned last = last_raster_group<kGroup>(across), quotient = last == 0 ? 0 : index / (kGroup * along);
  const unsigned group = quotient < last ? quotient : last;
  index -= group * kGroup * along;
  const unsigned width = group < last ? kGroup : across - last * kGroup, step = index / width;
  const int a = static_cast<int>(group * kGroup + index - step * width), b = static_cast<int>(step);
  return kAlongM ? TileCoord{b, a, static_cast<int>(batch)} : TileCoord{a, b, static_cast<int>(batch)};
}

/// Returns n / by, for n < 2^31. `inverse` is (2^31 - 1) / by, rounded down: n times it, divided by 2^31, is the
/// quotient or one less.
__device__ __forceinline__ unsigned quotient_by_inverse(unsigned n, unsigned by, int inverse) {
  const auto product = static_cast<unsigned long long>(2 * n) * static_cast<unsigned>(inverse);
  const unsigned about = static_cast<unsigned>(product >> 32);
  return n - about * by >= by ? about + 1 : about;
}

/// The order of rasterized_tile() for kernels whose first and last instructions depend on it: a division by a number
/// that only the kernel's arguments tell takes longer than all the rest of finding a tile, so the host divides.
template <bool kAlongM, unsigned kGroup>
struct PreparedRasterization {
  unsigned rows, columns;
  int batches;
  int along_inverse;  ///< (2^31 - 1) / tiles along a group
  int last_inverse;   ///< (2^31 - 1) / tiles across the last group

  __device__ __forceinline__ TileCoord tile(unsigned index) const {
    unsigned batch = 0;
    if (batches > 1) {
      batch = index / (rows * columns);
      index -= batch * (rows * columns);
    }
    const unsigned across = kAlongM ? columns : rows, along = kAlongM ? rows : columns;
    const unsigned last = last_raster_group<kGroup>(across);
    const unsigned quotient = last == 0 ? 0 : quotient_by_inverse(index / kGroup, along, along_inverse);
    const unsigned group = quotient < last ? quotient : last;
    index -= group * kGroup * along;
    const unsigned width = group < last ? kGroup : across - last * kGroup;
    const unsigned step = width == kGroup ? index / kGroup : quotient_by_inverse(index, width, last_inverse);
    const int a = static_cast<int>(group * kGroup + index - step * width), b = static_cast<int>(step);
    return kAlongM ? TileCoord{b, a, static_cast<int>(batch)} : TileCoord{a, b, static_cast<int>(batch)};
  }
};

struct TileIndex {
  unsigned row, column;
};

/// Returns the index-th tile of a tile_rows x tile_columns grid of any size: groups of kGroup tile rows are walked
/// along N.
template <unsigned kGroup>
__device__ __forceinline__ TileIndex grouped_tile(unsigned index, unsigned tile_rows, unsigned tile_columns) {
  // The product has 64 bits: a group may be larger than a grid that has fewer rows than kGroup.
  const unsigned group = static_cast<unsigned>(index / (static_cast<unsigned long long>(kGroup) * tile_columns));
  const unsigned in_group = index - group * kGroup * tile_columns;
  const unsigned left = tile_rows - group * kGroup;
  const unsigned rows = left < kGroup ? left : kGroup;
  return {group * kGroup + in_group % rows, in_group / rows};
}

}  // namespace pgtune
