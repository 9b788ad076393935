// SPDX-License-Identifier: MIT
#include "tuner/session/family/classes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

namespace pgtune::session {
namespace {

constexpr std::int64_t kFineStep = 8, kFineUpTo = 512, kCoarseStep = 64;

/// Of the classes' grid: from a multiple of it to the next, m is above the first.
std::int64_t step_at(std::int64_t m) {
  constexpr std::int64_t kCoarseUpTo = 4096;
  if (m <= 2) return 1;
  if (m <= 8) return m <= 4 ? 2 : 4;
  if (m <= 256) return 8;
  if (m <= 512) return 16;
  std::int64_t step = kCoarseStep;
  for (std::int64_t end = kCoarseUpTo; m > end; end *= 2) step *= 2;
  return step;
}

bool differ(const space::VariantFacts& a, const space::VariantFacts& b) {
  if (a.legal != b.legal || a.build != b.build) return true;
  return std::abs(a.clocks - b.clocks) > kSameCost * std::max(a.clocks, b.clocks);
}

class BreakFinder {
 public:
  explicit BreakFinder(const FactsAt& facts) : facts_(facts) {}

  /// Adds the M in from..to-1 after which something changes.
  void add(std::int64_t from, std::int64_t to) {
    if (from >= to || std::equal(at(from).begin(), at(from).end(), at(to).begin(), std::not_fn(differ))) return;
    if (to == from + 1) {
      breaks_.push_back(from);
      return;
    }
    const std::int64_t middle = from + (to - from) / 2;
    add(from, middle);
    add(middle, to);
    known_.erase(middle);
  }
  [[nodiscard]] std::vector<std::int64_t> take() && { return std::move(breaks_); }

 private:
  const std::vector<space::VariantFacts>& at(std::int64_t m) {
    const auto known = known_.find(m);
    return known != known_.end() ? known->second : known_.emplace(m, facts_(m)).first->second;
  }

  const FactsAt& facts_;
  std::map<std::int64_t, std::vector<space::VariantFacts>> known_;
  std::vector<std::int64_t> breaks_;
};

}  // namespace

std::vector<std::int64_t> class_tops(std::int64_t first, std::int64_t last, const FactsAt& facts) {
  std::set<std::int64_t> looked_at{first, last};
  for (std::int64_t m = kFineStep; m < last; m += m < kFineUpTo ? kFineStep : kCoarseStep) {
    if (m >= first) looked_at.insert({m, m + 1});
  }
  BreakFinder breaks(facts);
  for (auto to = std::next(looked_at.begin()); to != looked_at.end(); ++to) breaks.add(*std::prev(to), *to);
  const std::vector<std::int64_t> found = std::move(breaks).take();
  std::set<std::int64_t> tops(found.begin(), found.end());
  tops.insert(last);
  for (std::int64_t m = 1; m < last; m += step_at(m + 1)) {
    if (m >= first) tops.insert(m);
  }
  return {tops.begin(), tops.end()};
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

std::vector<std::size_t> settled_ladder(const std::vector<std::int64_t>& tops,
                                        const std::function<bool(std::int64_t m)>& meets_cap) {
  std::vector<std::size_t> out;
  for (std::size_t i = tops.size(); i-- > 0 && meets_cap(tops[i]);) {
    if (out.empty() || 3 * tops[i] <= 2 * tops[out.back()]) out.push_back(i);
  }
  return out;
}

std::vector<std::int64_t> draw_probes(std::int64_t first, std::int64_t last, std::size_t count,
                                      std::span<const std::int64_t> used, std::uint64_t seed) {
  constexpr int kTries = 16;
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
