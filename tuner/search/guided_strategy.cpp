// SPDX-License-Identifier: MIT
#include "tuner/search/guided_strategy.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tuner/search/shuffle.hpp"

namespace pgtune::search {

namespace {

/// The order of a group by itself, from 0.
std::vector<std::size_t> order_of(const Group& group, std::uint64_t seed) {
  const std::vector<std::size_t> random = shuffled_indices(group.size, seed);
  if (group.costs.empty()) return random;
  if (group.costs.size() != group.size) throw std::logic_error("a group needs a cost for each of its variants");
  std::vector<std::size_t> ranked = random;  // equals stay in random order
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](std::size_t a, std::size_t b) { return group.costs[a] < group.costs[b]; });
  std::vector<bool> taken(group.size);
  std::array sources{ranked.cbegin(), random.cbegin()};
  std::vector<std::size_t> order;
  while (order.size() < group.size) {
    auto& source = sources[order.size() % GuidedStrategy::kRandomEvery == GuidedStrategy::kRandomEvery - 1];
    while (taken[*source]) ++source;
    taken[*source] = true;
    order.push_back(*source);
  }
  return order;
}

std::vector<std::size_t> taking_turns(const std::vector<Group>& groups, std::uint64_t seed) {
  std::vector<std::vector<std::size_t>> orders;
  std::size_t count = 0, longest = 0;
  for (const Group& group : groups) {
    auto& order = orders.emplace_back(order_of(group, seed));
    for (std::size_t& index : order) index += count;
    count += group.size;
    longest = std::max(longest, group.size);
  }
  std::vector<std::size_t> all;
  all.reserve(count);
  for (std::size_t turn = 0; turn < longest; ++turn) {
    for (const auto& order : orders) {
      if (turn < order.size()) all.push_back(order[turn]);
    }
  }
  return all;
}

}  // namespace

GuidedStrategy::GuidedStrategy(const std::vector<Group>& groups, const std::vector<std::size_t>& first,
                               std::uint64_t seed)
    : order_(taking_turns(groups, seed)) {
  auto begin = order_.begin();
  for (const std::size_t leader : first) {
    const auto place = std::find(begin, order_.end(), leader);
    if (place != order_.end()) std::rotate(begin++, place, place + 1);
  }
}

std::optional<std::size_t> GuidedStrategy::next() {
  if (position_ == order_.size()) return std::nullopt;
  return order_[position_++];
}

void GuidedStrategy::report(std::size_t /*index*/, const Observation& /*observation*/) {}

}  // namespace pgtune::search
