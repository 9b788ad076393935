// SPDX-License-Identifier: MIT
#include "tuner/session/answer/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/interval.hpp"

namespace pgtune::session {
namespace {

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

std::optional<SettledEnergy> settled_energy(const std::vector<Sample>& samples, const std::vector<Sample>& baseline,
                                            int looks) {
  std::vector<double> powers_w, times_s, energies_j;
  for (const Sample& sample : samples) {
    if (!sample.lead_in_s || sample.power_w.value_or(0) <= 0) continue;
    powers_w.push_back(*sample.power_w);
    times_s.push_back(sample.per_launch_s());
    energies_j.push_back(powers_w.back() * times_s.back());
  }
  if (powers_w.size() < stats::kLeastValues) return std::nullopt;
  const double confidence = stats::look_confidence(looks);
  const auto energy = stats::batch_mean_interval(energies_j, confidence);
  SettledEnergy out{static_cast<int>(powers_w.size()), stats::median(powers_w), stats::median(times_s)};
  out.energy_j = energy.mean;
  out.low_j = energy.interval.low;
  out.high_j = energy.interval.high;
  const auto ratio = log_energy_ratio(baseline, samples, confidence);
  if (ratio.pairs < stats::kLeastValues) return out;
  out.ratio_to_baseline = std::exp(ratio.mean);
  out.ratio_low = std::exp(ratio.interval.low);
  out.ratio_high = std::exp(ratio.interval.high);
  return out;
}

std::optional<double> median_lead_in_s(const std::vector<Sample>& samples) {
  std::vector<double> lead_ins_s;
  for (const Sample& sample : samples) {
    if (sample.lead_in_s) lead_ins_s.push_back(*sample.lead_in_s);
  }
  if (lead_ins_s.empty()) return std::nullopt;
  return stats::median(lead_ins_s);
}

std::optional<std::string> energy_agreement(const Answer& answer) {
  const RankedVariant& best = answer.best();
  if (!best.energy || !best.settled_energy || !answer.baseline_energy || !answer.baseline_settled_energy) return {};
  struct Pair {
    const char* whose;
    const EnergySummary& windows;
    const SettledEnergy& samples;
    [[nodiscard]] double difference() const { return std::abs(samples.energy_j / windows.energy_j - 1); }
    /// Windows without a stated uncertainty are taken for exact.
    [[nodiscard]] double uncertainty() const {
      return windows.uncertainty + (samples.high_j - samples.low_j) / 2 / samples.energy_j;
    }
    [[nodiscard]] double excess() const { return difference() - uncertainty(); }
  };
  const Pair own{"the winner", *best.energy, *best.settled_energy};
  const Pair other{"the baseline", *answer.baseline_energy, *answer.baseline_settled_energy};
  if (own.windows.energy_j <= 0 || other.windows.energy_j <= 0) return {};
  const Pair& worse = own.excess() >= other.excess() ? own : other;
  return fmt::format(
      "energy windows and settled samples {} their uncertainty of {:.1f} %: {:.4g} J and {:.4g} J a launch of {}",
      worse.excess() <= 0 ? "agree within" : "differ by more than", 100 * worse.uncertainty(), worse.windows.energy_j,
      worse.samples.energy_j, worse.whose);
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
