// SPDX-License-Identifier: MIT
#include "tuner/search/guided_strategy.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "tuner/search/shuffle.hpp"
#include "tuner/search/strategies.hpp"

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

Result<std::unique_ptr<Strategy>> make_guided(const SearchSpace& space, std::uint64_t seed) {
  TRY_ASSIGN(const auto costs, space.costs());
  std::vector<Group> groups;
  std::size_t index = 0;
  for (const std::size_t size : space.template_sizes) {
    Group group{size, {}};
    for (const std::size_t end = index + size; index < end; ++index) {
      if (costs[index]) group.costs.push_back(*costs[index]);
    }
    groups.push_back(std::move(group));
  }
  return std::make_unique<GuidedStrategy>(groups, space.tried_first, seed);
}

}  // namespace

StrategyInfo guided_strategy() { return {"guided", "defaults and seeds, then by the templates' costs", make_guided}; }

GuidedStrategy::GuidedStrategy(const std::vector<Group>& groups, const std::vector<std::size_t>& first,
                               std::uint64_t seed) {
  std::size_t count = 0;
  std::vector<std::size_t> leaders = first;
  for (const Group& group : groups) {
    std::vector<std::size_t> order = order_of(group, seed);
    for (std::size_t& index : order) index += count;
    if (!group.costs.empty()) leaders.push_back(order.front());
    count += group.size;
    members_.push_back({count, std::move(order), std::numeric_limits<double>::infinity()});
  }
  for (const std::size_t leader : leaders) {
    if (leader < count && std::erase(member_of(leader).rest, leader) > 0) order_.push_back(leader);
  }
  open_leaders_ = order_;
}

GuidedStrategy::Member& GuidedStrategy::member_of(std::size_t index) {
  return *std::upper_bound(members_.begin(), members_.end(), index,
                           [](std::size_t wanted, const Member& member) { return wanted < member.end; });
}

std::optional<std::size_t> GuidedStrategy::next() {
  if (position_ == order_.size() && !shared_ && (members_.size() == 1 || open_leaders_.empty())) share_rest();
  if (position_ == order_.size()) return std::nullopt;
  return order_[position_++];
}

void GuidedStrategy::share_rest() {
  shared_ = true;
  double fastest_s = std::numeric_limits<double>::infinity();
  for (const Member& member : members_) fastest_s = std::min(fastest_s, member.fastest_leader_s);
  std::vector<const Member*> ahead, behind;
  for (const Member& member : members_) {
    const bool judged = member.fastest_leader_s < std::numeric_limits<double>::infinity();
    (judged && member.fastest_leader_s > kBehind * fastest_s ? behind : ahead).push_back(&member);
  }
  take_turns(ahead);
  take_turns(behind);
}

void GuidedStrategy::take_turns(const std::vector<const Member*>& members) {
  std::size_t longest = 0;
  for (const Member* member : members) longest = std::max(longest, member->rest.size());
  for (std::size_t turn = 0; turn < longest; ++turn) {
    for (const Member* member : members) {
      if (turn < member->rest.size()) order_.push_back(member->rest[turn]);
    }
  }
}

/// Only leaders are judged: a resumed search, which knows more, goes on in the same order.
void GuidedStrategy::report(std::size_t index, const Observation& observation) {
  if (std::erase(open_leaders_, index) == 0 || observation.outcome != OutcomeKind::kOk) return;
  Member& member = member_of(index);
  member.fastest_leader_s = std::min(member.fastest_leader_s, observation.time_s);
}

}  // namespace pgtune::search
