// SPDX-License-Identifier: MIT
#include "tool/pgtune/cluster/chunks.hpp"

#include <algorithm>
#include <numeric>

namespace pgtune::tool {

std::vector<Chunk> balanced_chunks(const std::vector<double>& expected_s, std::size_t count) {
  std::vector<std::size_t> order(expected_s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return expected_s[a] > expected_s[b]; });
  std::vector<Chunk> chunks(std::min(count, expected_s.size()));
  for (const std::size_t item : order) {
    // Fewer items decide where all times are equal, zero among them, so that no chunk stays empty.
    Chunk& shortest = *std::min_element(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) {
      return a.expected_s != b.expected_s ? a.expected_s < b.expected_s : a.items.size() < b.items.size();
    });
    shortest.items.push_back(item);
    shortest.expected_s += expected_s[item];
  }
  for (Chunk& chunk : chunks) std::sort(chunk.items.begin(), chunk.items.end());
  return chunks;
}

}  // namespace pgtune::tool
