// SPDX-License-Identifier: MIT
// A strategy's search in a table of what was measured before, instead of on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/search/strategies.hpp"

namespace pgtune::search {

/// A problem's variants with what became of each: the whole space of a simulated search.
struct MeasuredTable {
  std::vector<Variant> variants;  ///< one template after another
  std::vector<std::size_t> template_sizes;
  std::vector<std::size_t> tried_first;      ///< of SearchSpace
  std::vector<std::optional<double>> costs;  ///< likewise; one for each variant
  std::vector<Observation> observations;     ///< likewise
  std::vector<bool> in_preset = {};          ///< likewise, or empty

  /// What a strategy is told of it; borrows the table.
  [[nodiscard]] SearchSpace space() const;
  /// The shortest and the longest time of a variant that was right and timed to the end; nothing where none was.
  [[nodiscard]] std::optional<double> best_s() const;
  [[nodiscard]] std::optional<double> worst_s() const;
};

/// A simulated search after so many variants.
struct SimulatedLoss {
  /// The time of the best that it found over the time of the table's best, less 1. Where it found none that is right,
  /// the table's worst counts as found.
  double loss = 0;
  std::optional<double> expected;  ///< what the strategy expected of it (ExpectedMiss::of_all)
};

struct SimulatedSearch {
  /// Where a search that stops when it is enough would have ended.
  struct Stop {
    std::size_t tried = 0;  ///< variants, failures too; all of the table where it was never enough
    double loss = 0;        ///< as SimulatedLoss::loss
  };
  std::vector<SimulatedLoss> losses;  ///< for each of the budgets
  std::optional<Stop> stop;           ///< nothing of a strategy that does not say what it expects to have missed
};

/// A search that goes on to the largest of `budgets`, which ascend, and beyond that, where the strategy judges itself,
/// until is_enough() for `margin`. Reports come as soon as the strategy takes them. Precondition: the table has a best.
/// Errors: those of the space.
[[nodiscard]] Result<SimulatedSearch> simulated_search(const MeasuredTable& table, const SearchSpace& space,
                                                       const StrategyInfo& strategy, std::uint64_t seed,
                                                       std::span<const std::size_t> budgets, double margin);

}  // namespace pgtune::search
