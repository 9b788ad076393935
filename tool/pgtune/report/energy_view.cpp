// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/energy_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/report/answer_text.hpp"

namespace pgtune::tool {
namespace {

struct EnergyUnit {
  const char* name;
  double joules;
};

EnergyUnit unit_of(double joules) {
  if (joules >= 1) return {"J", 1};
  return joules >= 1e-3 ? EnergyUnit{"mJ", 1e-3} : EnergyUnit{"uJ", 1e-6};
}

nlohmann::json number_or_null(double value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(nullptr); }

/// null without an interval.
nlohmann::json pair_or_null(double low, double high) {
  if (!(high > 0)) return nullptr;
  return {low, high};
}

std::string digits(double joules, const EnergyUnit& unit) { return four_digits(joules / unit.joules); }

}  // namespace

nlohmann::json energy_json(const std::optional<session::EnergySummary>& energy, const Problem& problem) {
  if (!energy) return nullptr;
  nlohmann::json out = {{"windows", energy->windows},
                        {"energy_per_gemm_j", energy->energy_j},
                        {"energy_per_gemm_range_j", {energy->low_j, energy->high_j}},
                        {"power_w", energy->power_w},
                        {"time_s", energy->time_s},
                        {"tflops", energy->time_s > 0 ? problem.flops() / energy->time_s * 1e-12 : 0},
                        {"flop_per_j", energy->energy_j > 0 ? problem.flops() / energy->energy_j : 0},
                        {"flop_per_j_range",
                         {energy->high_j > 0 ? problem.flops() / energy->high_j : 0,
                          energy->low_j > 0 ? problem.flops() / energy->low_j : 0}},
                        {"sm_clock_hz", energy->sm_clock_hz},
                        {"power_cap_share", nullptr},
                        {"uncertainty", energy->uncertainty},
                        {"suspect", energy->suspect}};
  if (energy->power_cap_share) out["power_cap_share"] = *energy->power_cap_share;
  if (energy->ratio_to_baseline > 0) {
    // Less is better: own energy over the baseline's.
    out["energy_over_baseline"] = 1 / energy->ratio_to_baseline;
    out["energy_over_baseline_range"] = {1 / energy->ratio_high, 1 / energy->ratio_low};
  }
  return out;
}

nlohmann::json settled_energy_json(const std::optional<session::SettledEnergy>& energy) {
  if (!energy) return nullptr;
  return {{"samples", energy->samples},
          {"power_w", energy->power_w},
          {"time_s", energy->time_s},
          {"energy_per_gemm_j", energy->energy_j},
          {"energy_per_gemm_interval_j", {energy->low_j, energy->high_j}},
          {"ratio_to_baseline", number_or_null(energy->ratio_to_baseline)},
          {"ratio_interval", pair_or_null(energy->ratio_low, energy->ratio_high)}};
}

std::string settled_energy_text(const session::SettledEnergy& energy, const session::SettledEnergy& baseline,
                                std::string_view baseline_name) {
  const EnergyUnit unit = unit_of(energy.energy_j);
  const std::string own = fmt::format("{} {} ({} to {})", digits(energy.energy_j, unit), unit.name,
                                      digits(energy.low_j, unit), digits(energy.high_j, unit));
  std::string share = fmt::format("{:.3f}", energy.energy_j / baseline.energy_j);
  if (energy.ratio_to_baseline > 0)
    share = fmt::format("{:.3f} ({:.3f} to {:.3f})", 1 / energy.ratio_to_baseline, 1 / energy.ratio_high,
                        1 / energy.ratio_low);
  return fmt::format("{} per launch, {} of {}'s {} {}: power times time of {} settled samples", own, share,
                     baseline_name, digits(baseline.energy_j, unit), unit.name, energy.samples);
}

std::vector<TextTable::Column> energy_columns(std::string_view speed_unit) {
  return {{std::string(speed_unit), Align::kRight},
          {"W", Align::kRight},
          {"per launch", Align::kRight},
          {"range", Align::kRight},
          {"GFLOP/J", Align::kRight},
          {"MHz", Align::kRight},
          {"at cap", Align::kRight}};
}

std::vector<std::string> energy_cells(const session::EnergySummary& energy, const Problem& problem) {
  const EnergyUnit unit = unit_of(energy.energy_j);
  return {speed_text(problem, energy.time_s),
          fmt::format("{:.0f}{}", energy.power_w, energy.suspect ? "?" : ""),
          fmt::format("{} {}", digits(energy.energy_j, unit), unit.name),
          fmt::format("{}-{}", digits(energy.low_j, unit), digits(energy.high_j, unit)),
          energy.energy_j > 0 ? fmt::format("{:.2f}", problem.flops() / energy.energy_j * 1e-9) : "-",
          energy.sm_clock_hz > 0 ? fmt::format("{:.0f}", energy.sm_clock_hz / 1e6) : "-",
          energy.power_cap_share ? fmt::format("{:.0f} %", 100 * *energy.power_cap_share) : "-"};
}

std::string energy_verdict(const session::EnergySummary& energy, const session::EnergySummary& baseline,
                           std::string_view baseline_name) {
  if (energy.suspect || baseline.suspect)
    return "energy is no evidence: the counter and the driver's averaged power differ by over 5 %";
  if (!(energy.ratio_low > 0))
    return fmt::format("energy cannot be compared: no window of {} beside it", baseline_name);
  const std::string share = interval_text(1 / energy.ratio_high, 1 / energy.ratio_low);
  // A difference within the sum of both uncertainties counts as none.
  const double noise = energy.uncertainty + baseline.uncertainty;
  if (energy.ratio_low > 1 + noise) return fmt::format("less energy per launch: {} of {}'s", share, baseline_name);
  if (energy.ratio_high < 1 - noise) return fmt::format("more energy per launch: {} of {}'s", share, baseline_name);
  return fmt::format("energy per launch within the noise: {} of {}'s, each known to {:.1f} %", share, baseline_name,
                     100 * std::max(energy.uncertainty, baseline.uncertainty));
}

}  // namespace pgtune::tool
