// SPDX-License-Identifier: MIT
#include "tuner/stats/importance.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace pgtune::stats {

double explained_variance(std::span<const int> labels, std::span<const double> values) {
  struct Group {
    double sum = 0;
    std::size_t count = 0;
  };
  std::map<int, Group> groups;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Group& group = groups[labels[i]];
    group.sum += values[i];
    ++group.count;
    sum += values[i];
  }
  if (groups.size() < 2 || groups.size() >= values.size()) return 0;
  const double mean = sum / static_cast<double>(values.size());
  double total = 0, between = 0;
  for (const double value : values) total += (value - mean) * (value - mean);
  for (const auto& [label, group] : groups) {
    const auto count = static_cast<double>(group.count);
    between += count * (group.sum / count - mean) * (group.sum / count - mean);
  }
  if (!(total > 0)) return 0;
  const double within = (total - between) / static_cast<double>(values.size() - groups.size());
  return std::clamp((between - static_cast<double>(groups.size() - 1) * within) / total, 0.0, 1.0);
}

}  // namespace pgtune::stats
