// SPDX-License-Identifier: MIT
// The estimated miss of a search that follows predictions.
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// The mean logarithm of the best found over the best of all `variants` after `tried` of them (at least 1): where the
/// best few found lie close together there is little better to find. `gap`: the logarithm of the fifth fastest's time
/// over the fastest's; `deviation`: how far expectations are off on problems they were not fitted to. Fitted in
/// simulations: pgtune simulate --leave-out prints it beside what was missed.
[[nodiscard]] double expected_missed(double gap, double deviation, std::size_t tried, std::size_t variants);

/// The rule by which a search ends early: the rest of the presets is expected to gain less than the margin of ties
/// (0.003 is 0.3 %). Variants outside the presets do not count: they are many times as many, and the estimate for them
/// hardly ever gets that small, although as many of them are tried meanwhile (PresetTurns). `miss`: of
/// Strategy::expected_miss(); a strategy without one never has enough. `tried`: variants, failures too. After few
/// variants of a small space the estimate is unreliable, and trying the rest takes little time.
[[nodiscard]] bool is_enough(const std::optional<ExpectedMiss>& miss, double margin, std::size_t tried);

}  // namespace pgtune::search
