// SPDX-License-Identifier: MIT
#include "tuner/util/suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pgtune {
namespace {

constexpr std::size_t kMaxNameLength = 64;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

/// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours cost 1 each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  if (candidates.empty()) return {};
  if (name.size() <= kMaxNameLength) {
    const std::string wanted = lower(name);
    const std::string* best = nullptr;
    std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
      if (candidate.size() > kMaxNameLength) continue;
      const std::size_t distance = edit_distance(wanted, lower(candidate));
      if (distance < best_distance && distance < candidate.size()) {
        best = &candidate;
        best_distance = distance;
      }
    }
    if (best != nullptr) return fmt::format("; did you mean '{}'?", *best);
  }
  return fmt::format("; known: {}", fmt::join(candidates, ", "));
}

}  // namespace pgtune
