// SPDX-License-Identifier: MIT
#include "tuner/session/answer/energy_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

/// Mean energy of a launch over the neighbours there are; 0 without.
double neighbours_j(const NeighbouredWindow& placed) {
  double sum_j = 0;
  int count = 0;
  for (const auto& neighbour : {placed.before, placed.after}) {
    if (!neighbour || neighbour->energy_per_launch_j() <= 0) continue;
    sum_j += neighbour->energy_per_launch_j();
    ++count;
  }
  return count > 0 ? sum_j / count : 0;
}

double lowest(const std::vector<double>& values) { return stats::quantile(values, 0); }
double highest(const std::vector<double>& values) { return stats::quantile(values, 1); }

struct Range {
  double median = 0, low = 0, high = 0;
};

/// The objective's figure of a variant with energy.
Range figure(Objective objective, const EnergySummary& energy) {
  const double factor = objective == Objective::kEnergyDelayProduct ? energy.time_s : 1;
  return {energy.energy_j * factor, energy.low_j * factor, energy.high_j * factor};
}

std::string figure_name(Objective objective) {
  return objective == Objective::kEnergy ? "energy of a launch" : "energy times time of a launch";
}

}  // namespace

std::optional<EnergySummary> summarise_energy(const std::vector<NeighbouredWindow>& windows) {
  EnergySummary out;
  std::vector<double> energies_j, powers_w, times_s, clocks_hz, cap_shares, ratios;
  for (const NeighbouredWindow& placed : windows) {
    const EnergyWindow& window = placed.window;
    if (window.energy_per_launch_j() <= 0) continue;
    ++out.windows;
    energies_j.push_back(window.energy_per_launch_j());
    powers_w.push_back(window.power_w());
    times_s.push_back(window.per_launch_s);
    if (window.sm_clock_hz > 0) clocks_hz.push_back(window.sm_clock_hz);
    if (window.power_cap_share) cap_shares.push_back(*window.power_cap_share);
    if (const double baseline_j = neighbours_j(placed); baseline_j > 0) {
      ratios.push_back(baseline_j / energies_j.back());
    }
    out.uncertainty = std::max(out.uncertainty, window.uncertainty);
    out.suspect = out.suspect || window.suspect();
  }
  if (out.windows == 0) return std::nullopt;
  out.energy_j = stats::median(energies_j);
  out.low_j = lowest(energies_j);
  out.high_j = highest(energies_j);
  out.power_w = stats::median(powers_w);
  out.time_s = stats::median(times_s);
  out.sm_clock_hz = stats::median(clocks_hz);
  if (!cap_shares.empty()) out.power_cap_share = stats::median(cap_shares);
  out.ratio_to_baseline = stats::median(ratios);
  out.ratio_low = lowest(ratios);
  out.ratio_high = highest(ratios);
  return out;
}

ObjectiveChoice choose_by_objective(Objective objective, std::vector<RankedVariant>& ranked) {
  if (objective == Objective::kTime) return {};
  const auto measured_end = std::stable_partition(ranked.begin(), ranked.end(),
                                                  [](const RankedVariant& row) { return row.energy.has_value(); });
  if (measured_end == ranked.begin()) {
    return {{}, fmt::format("the time decided: no {} was measured", figure_name(objective))};
  }
  std::stable_sort(ranked.begin(), measured_end, [&](const RankedVariant& a, const RankedVariant& b) {
    return figure(objective, *a.energy).median < figure(objective, *b.energy).median;
  });
  const Range best = figure(objective, *ranked.front().energy);
  // Ranges that overlap the best one's need not be next to each other in the order of medians.
  const auto ties = [&](const RankedVariant& row) {
    const Range own = figure(objective, *row.energy);
    return own.low <= best.high && best.low <= own.high;
  };
  auto winner = ranked.begin();
  for (auto row = ranked.begin(); row != measured_end; ++row) {
    if (ties(*row) && row->time_s < winner->time_s) winner = row;
  }
  std::rotate(ranked.begin(), winner, winner + 1);

  ObjectiveChoice choice;
  for (auto row = ranked.begin() + 1; row != measured_end; ++row) {
    if (ties(*row)) choice.ties.push_back(row->variant.key());
  }
  choice.note =
      fmt::format("the {} decided{}", figure_name(objective), choice.ties.empty() ? "" : ", between ties the time");
  return choice;
}

void mark_pareto(std::vector<RankedVariant>& ranked) {
  const auto dominates = [](const RankedVariant& other, const RankedVariant& row) {
    if (!other.energy || other.time_s > row.time_s || other.energy->energy_j > row.energy->energy_j) return false;
    return other.time_s < row.time_s || other.energy->energy_j < row.energy->energy_j;
  };
  for (RankedVariant& row : ranked) {
    row.pareto = row.energy && std::none_of(ranked.begin(), ranked.end(),
                                            [&](const RankedVariant& other) { return dominates(other, row); });
  }
}

}  // namespace pgtune::session
