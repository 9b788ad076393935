// SPDX-License-Identifier: MIT
// Every variant with equal probability; templates take turns.
#include "tuner/search/guided_strategy.hpp"
#include "tuner/search/strategies.hpp"

namespace pgtune::search {
namespace {

Result<std::unique_ptr<Strategy>> make_random(const SearchSpace& space, std::uint64_t seed) {
  std::vector<Group> groups;
  for (const std::size_t size : space.template_sizes) groups.push_back({size, {}});
  return std::make_unique<GuidedStrategy>(groups, std::vector<std::size_t>{}, seed);
}

}  // namespace

StrategyInfo random_strategy() { return {"random", "any variant, as likely as any other", make_random}; }

}  // namespace pgtune::search
