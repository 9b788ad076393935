// SPDX-License-Identifier: MIT
// The search strategies by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/search/search_space.hpp"
#include "tuner/search/strategy.hpp"

namespace pgtune::search {

/// A strategy of a search over `space`, which outlives it. The same space, seed and reports give the same proposals.
using StrategyMaker = Result<std::unique_ptr<Strategy>> (*)(const SearchSpace& space, std::uint64_t seed);

struct StrategyInfo {
  std::string name;
  std::string description;  ///< one line for people
  StrategyMaker make = nullptr;
  bool asks_expectation = false;  ///< SearchSpace::expectation, which takes time to compute
};

/// The default of a search.
inline constexpr std::string_view kDefaultStrategy = "model";

/// All there are, in the order of the help.
[[nodiscard]] const std::vector<StrategyInfo>& strategies();
/// "guided, model or random"
[[nodiscard]] std::string strategy_names();
/// The strategy of that name; null if there is none.
[[nodiscard]] const StrategyInfo* find_strategy(std::string_view name);

/// Errors (usage): no strategy has that name; those of the space.
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const SearchSpace& space,
                                                              std::uint64_t seed);

}  // namespace pgtune::search
