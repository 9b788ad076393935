// SPDX-License-Identifier: MIT
#include "tuner/device/recorded_samples.hpp"

#include <algorithm>
#include <cstddef>

namespace pgtune::device {

std::optional<Sample> recorded_sample(const std::vector<Sample>& recorded, const RoundPlace& place) {
  std::vector<Sample> same;
  for (const Sample& sample : recorded) {
    if (sample.stage == place.stage && sample.round == place.round) same.push_back(sample);
  }
  const auto index = static_cast<std::size_t>(place.occurrence);
  if (place.occurrence < 0 || index >= same.size()) return std::nullopt;
  std::sort(same.begin(), same.end(), [](const Sample& a, const Sample& b) { return a.position < b.position; });
  return same[index];
}

}  // namespace pgtune::device
