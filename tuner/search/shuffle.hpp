// SPDX-License-Identifier: MIT
// A shuffle that is the same on every platform, which std::shuffle does not promise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pgtune::search {

/// A permutation of 0 .. count-1, decided by `seed` alone.
[[nodiscard]] std::vector<std::size_t> shuffled_indices(std::size_t count, std::uint64_t seed);

}  // namespace pgtune::search
