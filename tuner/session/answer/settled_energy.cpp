// SPDX-License-Identifier: MIT
#include "tuner/session/answer/settled_energy.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/interval.hpp"

namespace pgtune::session {

std::optional<SettledEnergy> settled_energy(const std::vector<Sample>& samples) {
  std::vector<double> powers_w, times_s;
  for (const Sample& sample : samples) {
    if (!sample.lead_in_s || sample.power_w.value_or(0) <= 0) continue;
    powers_w.push_back(*sample.power_w);
    times_s.push_back(sample.per_launch_s());
  }
  if (powers_w.size() < stats::kLeastValues) return std::nullopt;
  return SettledEnergy{static_cast<int>(powers_w.size()), stats::median(powers_w), stats::median(times_s)};
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
  constexpr double kAgree = 0.02;
  const RankedVariant& best = answer.best();
  if (!best.energy || !best.settled_energy || !answer.baseline_energy || !answer.baseline_settled_energy) return {};
  struct Pair {
    const char* whose;
    double windows_j, samples_j;
    [[nodiscard]] double difference() const { return std::abs(samples_j / windows_j - 1); }
  };
  const Pair own{"the winner", best.energy->energy_j, best.settled_energy->energy_j()};
  const Pair other{"the baseline", answer.baseline_energy->energy_j, answer.baseline_settled_energy->energy_j()};
  if (own.windows_j <= 0 || other.windows_j <= 0) return {};
  const Pair& worse = own.difference() >= other.difference() ? own : other;
  return fmt::format("energy windows and the final's settled samples {} {:.0f} %: {:.4g} J and {:.4g} J a launch of {}",
                     worse.difference() <= kAgree ? "agree within" : "differ by more than", 100 * kAgree,
                     worse.windows_j, worse.samples_j, worse.whose);
}

}  // namespace pgtune::session
