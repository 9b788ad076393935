// SPDX-License-Identifier: MIT
// Many problems dealt out to tasks that work side by side, so that all end at about the same time.
#pragma once

#include <cstddef>
#include <vector>

namespace pgtune::tool {

struct Chunk {
  std::vector<std::size_t> items;  ///< ascending
  double expected_s = 0;           ///< of all of them
};

/// Each item goes, the longest first, to the chunk that has least so far: the longest chunk is at most 4/3 - 1/(3
/// count) times as long as it must be (R. L. Graham, Bounds on multiprocessing timing anomalies, 1969). `expected_s`:
/// not negative. `count` chunks, at least 1, or as many as there are items where those are fewer; none is empty.
[[nodiscard]] std::vector<Chunk> balanced_chunks(const std::vector<double>& expected_s, std::size_t count);

}  // namespace pgtune::tool
