// SPDX-License-Identifier: MIT
// Tiles of groups of rows whose sizes only the GPU knows.
#pragma once

namespace pgtune {

struct RowRange {
  int first, end;
};

/// Every row.
struct OneGroup {
  static constexpr int groups = 1;
  int rows;
  __device__ __forceinline__ RowRange range(int) const { return {0, rows}; }
};

/// Group g has the rows from offsets[g] to offsets[g + 1].
struct AdjacentGroups {
  const int* offsets;
  int groups;
  __device__ __forceinline__ RowRange range(int group) const {
    return {__ldg(offsets + group), __ldg(offsets + group + 1)};
  }
};

/// Group g has the first rows[g] of `capacity` rows of its own.
struct MaskedGroups {
  const int* rows;
  int groups, capacity;
  __device__ __forceinline__ RowRange range(int group) const {
    return {group * capacity, group * capacity + __ldg(rows + group)};
  }
};

/// How many rows of tiles, kRows rows each, cover the groups one after the other.
template <int kRows, typename Groups>
__device__ __forceinline__ int count_tile_rows(const Groups& of) {
  int count = 0;
#pragma unroll 4
  for (int group = 0; group < of.groups; ++group) {
    const RowRange rows = of.range(group);
    count += (rows.end - rows.first + kRows - 1) / kRows;
  }
  return count;
}

struct GroupTile {
  int group;
  int row;  ///< its first, of the whole matrix
  int end;  ///< behind its group's last row
};

/// The index-th of them; there is one.
template <int kRows, typename Groups>
__device__ __forceinline__ GroupTile find_group_tile(const Groups& of, int index) {
  for (int group = 0;; ++group) {
    const RowRange rows = of.range(group);
    const int tiles = (rows.end - rows.first + kRows - 1) / kRows;
    if (index < tiles) return {group, rows.first + index * kRows, rows.end};
    index -= tiles;
  }
}

}  // namespace pgtune
