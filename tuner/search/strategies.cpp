// SPDX-License-Identifier: MIT
#include "tuner/search/strategies.hpp"

#include <algorithm>
#include <cstddef>

/// Every strategy, in the order of the help: <name>_strategy() of <name>_strategy.cpp describes `name` and needs no
/// other declaration.
// clang-format off
#define PGTUNE_STRATEGIES(strategy) \
  strategy(guided) \
  strategy(model) \
  strategy(random) \
  strategy(stratified) \
  strategy(exhaustive)
// clang-format on

namespace pgtune::search {

#define PGTUNE_DECLARE(name) StrategyInfo name##_strategy();
PGTUNE_STRATEGIES(PGTUNE_DECLARE)
#undef PGTUNE_DECLARE

const std::vector<StrategyInfo>& strategies() {
#define PGTUNE_LIST(name) name##_strategy(),
  static const std::vector<StrategyInfo> all{PGTUNE_STRATEGIES(PGTUNE_LIST)};
#undef PGTUNE_LIST
  return all;
}

std::string strategy_names() {
  std::string names;
  for (std::size_t i = 0; i < strategies().size(); ++i) {
    if (i > 0) names += i + 1 == strategies().size() ? " or " : ", ";
    names += strategies()[i].name;
  }
  return names;
}

const StrategyInfo* find_strategy(std::string_view name) {
  const auto& all = strategies();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& info) { return info.name == name; });
  return found != all.end() ? &*found : nullptr;
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const SearchSpace& space, std::uint64_t seed) {
  const StrategyInfo* const info = find_strategy(name);
  if (info == nullptr)
    return fail(ErrorKind::kUsage, "unknown strategy '" + std::string(name) + "'. Give " + strategy_names() + ".");
  return info->make(space, seed);
}

}  // namespace pgtune::search
