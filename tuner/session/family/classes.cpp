// SPDX-License-Identifier: MIT
#include "tuner/session/family/classes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "tuner/util/host_limits.hpp"
#include "tuner/util/parallel.hpp"

namespace pgtune::session {
namespace {

/// Of the classes' grid: from a multiple of it to the next, m is above the first.
std::int64_t step_at(std::int64_t m) {
  constexpr std::int64_t kCoarseUpTo = 4096;
  if (m <= 2) return 1;
  if (m <= 8) return m <= 4 ? 2 : 4;
  if (m <= 256) return 8;
  if (m <= 512) return 16;
  std::int64_t step = 64;
  for (std::int64_t end = kCoarseUpTo; m > end; end *= 2) step *= 2;
  return step;
}

/// The least cost of those that are legal and have one.
double least_clocks(const std::vector<space::VariantFacts>& facts) {
  double least = std::numeric_limits<double>::infinity();
  for (const space::VariantFacts& one : facts) {
    if (one.legal && one.clocks > 0) least = std::min(least, one.clocks);
  }
  return least;
}

}  // namespace

std::vector<std::int64_t> class_grid(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> out;
  for (std::int64_t m = 1; m < last; m += step_at(m + 1)) {
    if (m >= first) out.push_back(m);
  }
  out.push_back(last);
  return out;
}

std::vector<std::int64_t> class_tops(std::int64_t first, std::int64_t last, const FactsAt& facts) {
  constexpr std::int64_t kLeastStep = 8, kOfAClass = 8;
  const std::vector<std::int64_t> grid = class_grid(first, last);
  std::vector<std::int64_t> looked_at = grid;
  for (std::int64_t m = kLeastStep; m < last; m += std::max(kLeastStep, step_at(m + 1) / kOfAClass)) {
    if (m >= first) looked_at.push_back(m);
  }
  std::sort(looked_at.begin(), looked_at.end(), std::greater<>());
  looked_at.erase(std::unique(looked_at.begin(), looked_at.end()), looked_at.end());
  std::vector<double> clocks(looked_at.size());
  in_parallel(looked_at.size(), usable_cores(), [&](std::size_t i) { clocks[i] = least_clocks(facts(looked_at[i])); });
  std::vector<std::int64_t> out;
  double of_class = 0;
  for (std::size_t i = 0; i < looked_at.size(); ++i) {
    const bool of_grid = std::binary_search(grid.begin(), grid.end(), looked_at[i]);
    if (!of_grid && clocks[i] * (1 + kSameCost) >= of_class) continue;
    out.push_back(looked_at[i]);
    of_class = clocks[i];
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::int64_t> build_changes(std::int64_t first, std::int64_t last, const FactsAt& facts) {
  std::vector<std::int64_t> out;
  std::vector<space::VariantFacts> here = facts(first);
  for (std::int64_t m = first; m < last; ++m) {
    std::vector<space::VariantFacts> next = facts(m + 1);
    const bool same = std::equal(here.begin(), here.end(), next.begin(),
                                 [](const auto& a, const auto& b) { return a.legal == b.legal && a.build == b.build; });
    if (!same) out.push_back(m);
    here = std::move(next);
  }
  return out;
}

std::vector<std::int64_t> anchors(std::int64_t first, std::int64_t last) {
  constexpr std::array<std::int64_t, 8> kAnchors{1, 8, 64, 256, 512, 1024, 2048, 8192};
  constexpr std::int64_t kFurther = 4;
  std::vector<std::int64_t> out{first};
  const auto add = [&](std::int64_t m) {
    if (2 * m > 3 * first && 3 * m < 2 * last) out.push_back(m);
  };
  for (const std::int64_t m : kAnchors) add(m);
  for (std::int64_t m = kFurther * kAnchors.back(); m < last; m *= kFurther) add(m);
  if (last != first) out.push_back(last);
  return out;
}

std::vector<std::int64_t> settled_ladder(const std::vector<std::int64_t>& tops,
                                         const std::function<bool(std::int64_t m)>& meets_cap) {
  std::vector<std::int64_t> out;
  for (auto m = tops.rbegin(); m != tops.rend() && meets_cap(*m); ++m) {
    if (out.empty() || 2 * *m <= out.back()) out.push_back(*m);
  }
  return out;
}

std::vector<std::int64_t> draw_probes(std::int64_t first, std::int64_t last, std::size_t count,
                                      std::span<const std::int64_t> used, std::uint64_t seed) {
  constexpr int kTries = 16;
  count = std::min(count, static_cast<std::size_t>(last - first + 1));
  const std::size_t most_parts = std::max<std::size_t>(4096, 64 * count);
  std::mt19937_64 random(seed);  // its output is fixed by the standard
  const auto draw = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::set<std::int64_t> drawn;
  std::vector<std::int64_t> out;
  std::vector<double> places;  // on the logarithmic scale, from 0 to 1
  const double low = std::log(static_cast<double>(first)), high = std::log(static_cast<double>(last + 1));
  for (std::size_t parts = 1; drawn.size() < count && parts <= most_parts; parts *= 2) {
    std::vector<std::size_t> empty;
    for (std::size_t i = 0; i < parts; ++i) empty.push_back(i);
    for (const double place : places)
      empty[std::min(parts - 1, static_cast<std::size_t>(place * static_cast<double>(parts)))] = parts;
    std::erase(empty, parts);
    for (std::size_t left = empty.size(); left > 0 && drawn.size() < count; --left) {
      std::size_t& part = empty[static_cast<std::size_t>(draw() * static_cast<double>(left))];
      for (int i = 0; i < kTries; ++i) {
        const double place = (static_cast<double>(part) + draw()) / static_cast<double>(parts);
        const auto m = std::clamp(static_cast<std::int64_t>(std::exp(low + place * (high - low))), first, last);
        if (std::binary_search(used.begin(), used.end(), m) || !drawn.insert(m).second) continue;
        places.push_back(place);
        out.push_back(m);
        break;
      }
      std::swap(part, empty[left - 1]);
    }
  }
  return out;
}

std::vector<std::int64_t> draw_compared(const Family& family, std::uint64_t seed) {
  std::set<std::int64_t> chosen;
  double all_s = 0;
  std::int64_t first = family.first_m;
  for (const FamilyInterval& interval : family.intervals) {
    all_s += static_cast<double>(interval.last_m - first + 1) * (interval.time_s + kComparison_s);
    chosen.insert({first, interval.last_m});
    first = interval.last_m + 1;
  }
  const std::int64_t all = family.last_m() - family.first_m + 1;
  const std::int64_t up_to = all_s <= kComparing_s ? family.last_m() : std::min(kFirstCompared, family.last_m());
  for (std::int64_t m = family.first_m; m <= up_to; ++m) chosen.insert(m);
  const auto affordable = static_cast<std::int64_t>(static_cast<double>(all) * kComparing_s / all_s);
  if (up_to < family.last_m() && affordable > std::ssize(chosen)) {
    const std::vector<std::int64_t> used(chosen.begin(), chosen.end());
    const auto drawn = draw_probes(std::max(family.first_m, up_to + 1), family.last_m(),
                                   static_cast<std::size_t>(affordable) - used.size(), used, seed);
    chosen.insert(drawn.begin(), drawn.end());
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace pgtune::session
