// SPDX-License-Identifier: MIT
// What a search that goes by expectations has missed so far.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// The mean logarithm of the best found over the best of all `variants` after `tried` of them (at least 1): where the
/// best few found lie close together there is little better to find. `gap`: the logarithm of the fifth fastest's time
/// over the fastest's; `deviation`: how far expectations are off on problems they were not fitted to. Fitted in
/// simulations: docs/strategies.md has what it says beside what was missed.
[[nodiscard]] double expected_missed(double gap, double deviation, std::size_t tried, std::size_t variants);

/// The rule by which a search ends early: what is left of the presets is expected to gain less than the margin of ties
/// (0.003 is 0.3 %). Of the many times as many variants that they leave out, as many are tried meanwhile (PresetTurns):
/// of these the estimate hardly ever expects so little. `miss`: as Strategy::expected_miss() says it; who says nothing
/// never has enough. `tried`: variants, failures too. After a few of a small space the estimate says too little, and
/// the rest takes no time worth saving.
[[nodiscard]] bool is_enough(const std::optional<ExpectedMiss>& miss, double margin, std::size_t tried);

}  // namespace pgtune::search
