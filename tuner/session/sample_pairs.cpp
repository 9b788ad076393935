// SPDX-License-Identifier: MIT
#include "tuner/session/sample_pairs.hpp"

#include <map>

namespace pgtune::session {
namespace {

double time_of(const Sample& sample) { return sample.per_launch_s(); }
double energy_of(const Sample& sample) { return sample.per_launch_s() * sample.power_w.value_or(0); }
double cycles_of(const Sample& sample) { return sample.per_launch_s() * sample.sm_clock_hz; }

stats::LogRatio log_ratio(std::span<const Sample> over, std::span<const Sample> under,
                          double (*value_of)(const Sample&), double confidence) {
  std::map<int, double> by_round;
  for (const Sample& sample : under) by_round[sample.round] = value_of(sample);
  std::vector<double> numerators, denominators;
  for (const Sample& sample : over) {
    const auto match = by_round.find(sample.round);
    if (match == by_round.end() || match->second <= 0 || value_of(sample) <= 0) continue;
    numerators.push_back(value_of(sample));
    denominators.push_back(match->second);
  }
  return stats::paired_log_ratio(numerators, denominators, confidence);
}

}  // namespace

std::vector<double> per_launch_times(std::span<const Sample> samples) {
  std::vector<double> times;
  times.reserve(samples.size());
  for (const Sample& sample : samples) times.push_back(sample.per_launch_s());
  return times;
}

std::vector<double> clocks_hz(std::span<const Sample> samples) {
  std::vector<double> clocks;
  for (const Sample& sample : samples) {
    if (sample.sm_clock_hz > 0) clocks.push_back(sample.sm_clock_hz);
  }
  return clocks;
}

stats::LogRatio log_time_ratio(std::span<const Sample> over, std::span<const Sample> under, double confidence) {
  return log_ratio(over, under, time_of, confidence);
}

stats::LogRatio log_cycles_ratio(std::span<const Sample> over, std::span<const Sample> under, double confidence) {
  return log_ratio(over, under, cycles_of, confidence);
}

stats::LogRatio log_energy_ratio(std::span<const Sample> over, std::span<const Sample> under, double confidence) {
  return log_ratio(over, under, energy_of, confidence);
}

bool within(const stats::Interval& interval, double bound) { return interval.low >= -bound && interval.high <= bound; }

}  // namespace pgtune::session
