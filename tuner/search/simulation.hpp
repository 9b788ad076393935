// SPDX-License-Identifier: MIT
// A strategy's search in a table of earlier measurements instead of on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/search/strategies.hpp"

namespace pgtune::search {

/// A problem's variants with their outcomes: the whole space of a simulated search.
struct MeasuredTable {
  std::vector<Variant> variants;  ///< one template after another
  std::vector<std::size_t> template_sizes;
  std::vector<std::size_t> tried_first;      ///< of SearchSpace
  std::vector<std::optional<double>> costs;  ///< likewise; one for each variant
  std::vector<Observation> observations;     ///< likewise
  std::vector<bool> in_preset = {};          ///< likewise, or empty

  /// The strategy's view of it; borrows the table.
  [[nodiscard]] SearchSpace space() const;
  /// The shortest and the longest time of a variant that was right and timed completely; nothing if there is none.
  [[nodiscard]] std::optional<double> best_s() const;
  [[nodiscard]] std::optional<double> worst_s() const;
};

/// A simulated search after a budget of variants.
struct SimulatedLoss {
  /// The best found time over the table's best, minus 1. If it found no right variant, the table's worst counts.
  double loss = 0;
  std::optional<double> expected;  ///< the strategy's estimate of it (ExpectedMiss::of_all)
};

struct SimulatedSearch {
  /// The point at which a search with the stopping rule would have ended.
  struct Stop {
    std::size_t tried = 0;  ///< variants, failures too; the whole table if the rule never applied
    double loss = 0;        ///< as SimulatedLoss::loss
  };
  std::vector<SimulatedLoss> losses;  ///< for each of the budgets
  std::optional<Stop> stop;           ///< nothing if the strategy does not estimate its miss
};

/// Runs a search to the largest of `budgets`, which ascend. If the strategy estimates its miss, the search goes on
/// until is_enough() for `margin`. Reports arrive as soon as the strategy accepts them. Precondition: the table has a
/// best. Errors: those of the space.
[[nodiscard]] Result<SimulatedSearch> simulated_search(const MeasuredTable& table, const SearchSpace& space,
                                                       const StrategyInfo& strategy, std::uint64_t seed,
                                                       std::span<const std::size_t> budgets, double margin);

}  // namespace pgtune::search
