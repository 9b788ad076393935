// SPDX-License-Identifier: MIT
#include "tuner/search/turns.hpp"

#include <algorithm>

namespace pgtune::search {

Turns::Turns(const SearchSpace& space, std::uint64_t seed, const Maker& make) {
  std::size_t begin = 0;
  for (const std::size_t size : space.template_sizes) {
    members_.push_back({begin, begin + size, make(space.variants.subspan(begin, size), seed + members_.size())});
    begin += size;
  }
}

bool Turns::is_behind(const Member& member) const {
  return member.reported >= kJudgedBy && member.fastest_s > kBehind * fastest_s_;
}

std::optional<std::size_t> Turns::next_of(bool behind, bool& waiting) {
  for (std::size_t tried = 0; tried < members_.size(); ++tried) {
    Member& member = members_[turn_];
    turn_ = (turn_ + 1) % members_.size();
    if (member.exhausted || is_behind(member) != behind) continue;
    if (const auto index = member.strategy->next()) {
      ++member.open;
      return member.begin + *index;
    }
    member.exhausted = member.open == 0;
    waiting = waiting || !member.exhausted;
  }
  return std::nullopt;
}

std::optional<std::size_t> Turns::next() {
  bool waiting = false;
  if (const auto index = next_of(false, waiting)) return index;
  if (waiting) return std::nullopt;
  return next_of(true, waiting);
}

void Turns::report(std::size_t index, const Observation& observation) {
  Member& member = *std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return index < m.end; });
  --member.open;
  ++member.reported;
  if (observation.outcome == OutcomeKind::kOk) {
    member.fastest_s = std::min(member.fastest_s, observation.time_s);
    fastest_s_ = std::min(fastest_s_, observation.time_s);
  }
  member.strategy->report(index - member.begin, observation);
}

}  // namespace pgtune::search
