// SPDX-License-Identifier: MIT
#include "tuner/search/shuffled_strategy.hpp"

#include <algorithm>

#include "tuner/search/shuffle.hpp"

namespace pgtune::search {

ShuffledStrategy::ShuffledStrategy(std::size_t count, std::optional<std::size_t> first, std::uint64_t seed)
    : order_(shuffled_indices(count, seed)) {
  if (!first) return;
  const auto place = std::find(order_.begin(), order_.end(), *first);
  if (place != order_.end()) std::rotate(order_.begin(), place, place + 1);
}

std::optional<std::size_t> ShuffledStrategy::next() {
  if (position_ == order_.size()) return std::nullopt;
  return order_[position_++];
}

void ShuffledStrategy::report(std::size_t /*index*/, const Observation& /*observation*/) {}

}  // namespace pgtune::search
