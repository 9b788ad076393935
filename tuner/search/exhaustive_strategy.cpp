// SPDX-License-Identifier: MIT
// Tries every variant in the order of the parameters' values, one template after another; for tables of whole spaces.
#include "tuner/search/fixed_order.hpp"
#include "tuner/search/strategies.hpp"

namespace pgtune::search {
namespace {

Result<std::unique_ptr<Strategy>> make_exhaustive(const SearchSpace& space, std::uint64_t) {
  return std::make_unique<FixedOrder>(space.variants.size());
}

}  // namespace

StrategyInfo exhaustive_strategy() {
  return {"exhaustive", "all in the order of the parameters' values", make_exhaustive};
}

}  // namespace pgtune::search
