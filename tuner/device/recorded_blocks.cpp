// SPDX-License-Identifier: MIT
#include "tuner/device/recorded_blocks.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pgtune::device {
namespace {

/// Blocks of one stage by round, each round's in order of position.
using Rounds = std::map<int, std::vector<Block>>;

Rounds rounds_of_stage(const std::vector<Block>& blocks, Stage stage) {
  Rounds rounds;
  for (const Block& block : blocks) {
    if (block.stage == stage) rounds[block.round].push_back(block);
  }
  for (auto& [round, group] : rounds) {
    std::sort(group.begin(), group.end(), [](const Block& a, const Block& b) { return a.position < b.position; });
  }
  return rounds;
}

/// Element `index` of a list that starts again at its end.
template <typename List>
const auto& cyclic(const List& list, int index) {
  const auto size = static_cast<int>(list.size());
  return *std::next(list.begin(), ((index % size) + size) % size);
}

const Block& same_stage_block(const Rounds& rounds, const RoundPlace& place) {
  const auto same = rounds.find(place.round);
  const auto& group = same != rounds.end() ? same->second : cyclic(rounds, place.round - 1).second;
  return cyclic(group, place.occurrence);
}

/// Stages to look for after the one asked for.
std::vector<Stage> other_stages(Stage stage) {
  if (stage == Stage::kRace) return {Stage::kFinal};
  if (stage == Stage::kFinal) return {Stage::kRace};
  return {Stage::kFinal, Stage::kRace};
}

}  // namespace

std::optional<Block> recorded_block(const std::vector<Block>& rounds, const std::vector<Block>& screening,
                                    const RoundPlace& place) {
  if (const Rounds same = rounds_of_stage(rounds, place.stage); !same.empty()) return same_stage_block(same, place);
  const int index = place.round - 1 + place.occurrence;
  for (const Stage stage : other_stages(place.stage)) {
    if (const Rounds other = rounds_of_stage(rounds, stage); !other.empty()) return cyclic(other, index).second.front();
  }
  if (!screening.empty()) return cyclic(screening, index);
  return std::nullopt;
}

}  // namespace pgtune::device
