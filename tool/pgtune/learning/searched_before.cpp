// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/searched_before.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace pgtune::tool {
namespace {

/// Of a number of searches that count: 0, 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on.
constexpr int kBits = 2;

std::size_t rounded_down(std::size_t count) {
  const int dropped = std::max(0, static_cast<int>(std::bit_width(count)) - kBits);
  return count >> dropped << dropped;
}

bool ends_before(const db::SessionRow& a, const db::SessionRow& b) {
  return std::tie(a.finished_at, a.uid) < std::tie(b.finished_at, b.uid);
}

}  // namespace

std::vector<db::SessionRow> searched_before(std::vector<db::SessionRow> searches, const std::string& problem_key,
                                            const std::string& device_class) {
  std::string first;  // start of the problem's first search
  for (const db::SessionRow& row : searches) {
    if (row.problem_key != problem_key || row.device_class != device_class) continue;
    if (first.empty() || row.started_at < first) first = row.started_at;
  }
  std::erase_if(searches, [&](const db::SessionRow& row) {
    return row.finished_at.empty() || (!first.empty() && row.finished_at > first);
  });
  const std::size_t count = rounded_down(searches.size());
  if (count == searches.size()) return searches;
  std::vector<db::SessionRow> by_end = searches;
  std::sort(by_end.begin(), by_end.end(), ends_before);
  std::erase_if(searches, [&](const db::SessionRow& row) { return !ends_before(row, by_end[count]); });
  return searches;
}

}  // namespace pgtune::tool
