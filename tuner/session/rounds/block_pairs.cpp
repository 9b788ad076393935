// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/block_pairs.hpp"

#include <map>

namespace pgtune::session {
namespace {

double time_of(const Block& block) { return block.per_launch_s(); }
double cycles_of(const Block& block) { return block.per_launch_s() * block.sm_clock_hz; }

stats::LogRatio log_ratio(std::span<const Block> over, std::span<const Block> under, double (*value_of)(const Block&),
                          std::uint64_t seed, double confidence) {
  std::map<int, double> by_round;
  for (const Block& block : under) by_round[block.round] = value_of(block);
  std::vector<double> numerators, denominators;
  for (const Block& block : over) {
    const auto match = by_round.find(block.round);
    if (match == by_round.end() || match->second <= 0 || value_of(block) <= 0) continue;
    numerators.push_back(value_of(block));
    denominators.push_back(match->second);
  }
  return stats::paired_log_ratio(numerators, denominators, seed, confidence);
}

}  // namespace

std::vector<double> per_launch_times(std::span<const Block> blocks) {
  std::vector<double> times;
  times.reserve(blocks.size());
  for (const Block& block : blocks) times.push_back(block.per_launch_s());
  return times;
}

std::vector<double> clocks_hz(std::span<const Block> blocks) {
  std::vector<double> clocks;
  for (const Block& block : blocks) {
    if (block.sm_clock_hz > 0) clocks.push_back(block.sm_clock_hz);
  }
  return clocks;
}

stats::LogRatio log_time_ratio(std::span<const Block> over, std::span<const Block> under, std::uint64_t seed,
                               double confidence) {
  return log_ratio(over, under, time_of, seed, confidence);
}

stats::LogRatio log_cycles_ratio(std::span<const Block> over, std::span<const Block> under, std::uint64_t seed,
                                 double confidence) {
  return log_ratio(over, under, cycles_of, seed, confidence);
}

bool within(const stats::Interval& interval, double bound) { return interval.low >= -bound && interval.high <= bound; }

}  // namespace pgtune::session
