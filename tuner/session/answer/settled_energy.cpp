// SPDX-License-Identifier: MIT
#include "tuner/session/answer/settled_energy.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/interval.hpp"

namespace pgtune::session {

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

}  // namespace pgtune::session
