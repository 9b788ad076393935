// SPDX-License-Identifier: MIT
// How far a space is walked before it counts as too large. Private to tuner/space.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgtune::space {

/// A search can neither hold nor try more; each variant takes about a kilobyte.
inline constexpr std::size_t kMaxVariants = 1'000'000;
/// Half a minute or so of walking.
inline constexpr std::int64_t kMaxSteps = 400'000'000;

}  // namespace pgtune::space
