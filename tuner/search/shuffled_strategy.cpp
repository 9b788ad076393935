// SPDX-License-Identifier: MIT
#include "tuner/search/shuffled_strategy.hpp"

#include <algorithm>

#include "tuner/search/shuffle.hpp"

namespace pgtune::search {

namespace {

std::vector<std::size_t> taking_turns(const std::vector<std::size_t>& group_sizes, std::uint64_t seed) {
  std::vector<std::vector<std::size_t>> groups;
  std::size_t count = 0, longest = 0;
  for (const std::size_t size : group_sizes) {
    auto& group = groups.emplace_back(shuffled_indices(size, seed));
    for (std::size_t& index : group) index += count;
    count += size;
    longest = std::max(longest, size);
  }
  std::vector<std::size_t> order;
  order.reserve(count);
  for (std::size_t turn = 0; turn < longest; ++turn) {
    for (const auto& group : groups) {
      if (turn < group.size()) order.push_back(group[turn]);
    }
  }
  return order;
}

}  // namespace

ShuffledStrategy::ShuffledStrategy(const std::vector<std::size_t>& group_sizes, const std::vector<std::size_t>& first,
                                   std::uint64_t seed)
    : order_(taking_turns(group_sizes, seed)) {
  auto begin = order_.begin();
  for (const std::size_t leader : first) {
    const auto place = std::find(begin, order_.end(), leader);
    if (place != order_.end()) std::rotate(begin++, place, place + 1);
  }
}

std::optional<std::size_t> ShuffledStrategy::next() {
  if (position_ == order_.size()) return std::nullopt;
  return order_[position_++];
}

void ShuffledStrategy::report(std::size_t /*index*/, const Observation& /*observation*/) {}

}  // namespace pgtune::search
