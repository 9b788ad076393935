// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/race_cut.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/paired.hpp"

namespace pgtune::session {
namespace {

constexpr std::size_t kMostEntrants = 96;

std::vector<std::size_t> ascending(const std::vector<double>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return order;
}

std::vector<double> medians(std::span<const SampleTimes> times) {
  std::vector<double> out;
  out.reserve(times.size());
  for (const SampleTimes& samples : times) out.push_back(stats::median(samples));
  return out;
}

bool clearly_slower(const SampleTimes& times, const SampleTimes& incumbent, const RaceRules& rules) {
  const std::size_t rounds = incumbent.size();
  const double two_margins = 1 + 2 * rules.margin;
  bool every_round = true;
  for (std::size_t r = 0; r < rounds; ++r) every_round = every_round && times[r] > incumbent[r] * two_margins;
  if (every_round) return true;
  if (rounds < kIntervalCut) return false;
  return stats::paired_log_ratio(times, incumbent, stats::look_confidence(rules.looks)).interval.low >
         std::log1p(rules.margin);
}

}  // namespace

int planned_race_looks(int race_rounds) { return std::max(race_rounds - static_cast<int>(kIntervalCut) + 1, 1); }

double entry_margin(std::span<const SampleTimes> screening, double tie_margin) {
  constexpr double kLeast = 0.03, kMost = 0.20, kNearBest = 1.3;
  const auto medians_s = medians(screening);
  const double best_s = medians_s.empty() ? 0 : *std::min_element(medians_s.begin(), medians_s.end());
  std::vector<double> ranges;
  for (std::size_t i = 0; i < screening.size(); ++i) {
    if (medians_s[i] > kNearBest * best_s) continue;
    const auto [low, high] = std::minmax_element(screening[i].begin(), screening[i].end());
    ranges.push_back(*high / *low - 1);
  }
  return std::min(kMost, std::max({kLeast, 10 * tie_margin, 4 * stats::quantile(ranges, 0.9)}));
}

std::vector<std::size_t> race_entrants(std::span<const SampleTimes> screening, double tie_margin) {
  const auto medians_s = medians(screening);
  auto order = ascending(medians_s);
  if (order.empty()) return order;
  const double limit_s = medians_s[order.front()] * (1 + entry_margin(screening, tie_margin));
  std::erase_if(order, [&](std::size_t i) { return medians_s[i] > limit_s; });
  order.resize(std::min(order.size(), kMostEntrants));
  return order;
}

std::vector<std::size_t> settled_entrants(std::span<const SampleTimes> screening, std::span<const RaceKeys> keys,
                                          double tie_margin, std::size_t most) {
  std::vector<std::vector<std::size_t>> orders{race_entrants(screening, tie_margin)};
  for (const RaceKeys& of : keys) {
    std::erase_if(orders.emplace_back(ascending(of)), [&](std::size_t i) { return of[i] <= 0; });
  }
  std::vector<bool> taken(screening.size(), false);
  std::vector<std::size_t> out;
  for (std::size_t place = 0; place < screening.size(); ++place) {
    for (const auto& order : orders) {
      if (place >= order.size() || taken[order[place]] || out.size() >= most) continue;
      taken[order[place]] = true;
      out.push_back(order[place]);
    }
  }
  return out;
}

std::vector<std::size_t> race_order(std::span<const SampleTimes> survivors) {
  if (survivors.empty()) return {};
  std::vector<SampleTimes> relative(survivors.begin(), survivors.end());
  std::vector<double> round(survivors.size());
  for (std::size_t r = 0; r < survivors.front().size(); ++r) {
    for (std::size_t i = 0; i < survivors.size(); ++i) round[i] = survivors[i][r];
    const double level_s = stats::median(round);
    for (SampleTimes& times : relative) times[r] /= level_s;
  }
  return ascending(medians(relative));
}

std::vector<std::size_t> race_cut(std::span<const SampleTimes> survivors, const RaceRules& rules) {
  const std::size_t keep = std::max<std::size_t>(rules.finalists, 1);
  if (survivors.size() <= keep || survivors.front().size() < kFirstCut) return {};
  const auto order = race_order(survivors);
  const SampleTimes& incumbent = survivors[order.front()];
  std::vector<std::size_t> leaving;
  for (auto slowest = order.rbegin(); slowest != order.rend(); ++slowest) {
    if (survivors.size() - leaving.size() <= keep) break;
    if (clearly_slower(survivors[*slowest], incumbent, rules)) leaving.push_back(*slowest);
  }
  return leaving;
}

}  // namespace pgtune::session
