// SPDX-License-Identifier: MIT
#include "tuner/device/recorded_samples.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pgtune::device {
namespace {

/// Samples of one stage by round, each round's in order of position.
using Rounds = std::map<int, std::vector<Sample>>;

Rounds rounds_of_stage(const std::vector<Sample>& samples, Stage stage) {
  Rounds rounds;
  for (const Sample& sample : samples) {
    if (sample.stage == stage) rounds[sample.round].push_back(sample);
  }
  for (auto& [round, group] : rounds) {
    std::sort(group.begin(), group.end(), [](const Sample& a, const Sample& b) { return a.position < b.position; });
  }
  return rounds;
}

/// Element `index` of a list that starts again at its end.
template <typename List>
const auto& cyclic(const List& list, int index) {
  const auto size = static_cast<int>(list.size());
  return *std::next(list.begin(), ((index % size) + size) % size);
}

const Sample& same_stage_sample(const Rounds& rounds, const RoundPlace& place) {
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

std::optional<Sample> recorded_sample(const std::vector<Sample>& rounds, const std::vector<Sample>& screening,
                                      const RoundPlace& place) {
  if (const Rounds same = rounds_of_stage(rounds, place.stage); !same.empty()) return same_stage_sample(same, place);
  const int index = place.round - 1 + place.occurrence;
  for (const Stage stage : other_stages(place.stage)) {
    if (const Rounds other = rounds_of_stage(rounds, stage); !other.empty()) return cyclic(other, index).second.front();
  }
  if (!screening.empty()) return cyclic(screening, index);
  return std::nullopt;
}

}  // namespace pgtune::device
