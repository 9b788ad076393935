// SPDX-License-Identifier: MIT
#include "tuner/search/shuffle.hpp"

#include <numeric>
#include <random>
#include <utility>

namespace pgtune::search {

std::vector<std::size_t> shuffled_indices(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::mt19937_64 random(seed);  // its output is fixed by the standard
  // Fisher-Yates. The remainder's bias is below 2^-40 for any space that can be enumerated.
  for (std::size_t left = count; left > 1; --left) std::swap(indices[left - 1], indices[random() % left]);
  return indices;
}

}  // namespace pgtune::search
