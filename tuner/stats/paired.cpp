// SPDX-License-Identifier: MIT
#include "tuner/stats/paired.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tuner/stats/descriptive.hpp"

namespace pgtune::stats {

LogRatio paired_log_ratio(std::span<const double> numerators, std::span<const double> denominators, std::uint64_t seed,
                          double confidence) {
  std::vector<double> logs(std::min(numerators.size(), denominators.size()));
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = std::log(numerators[i] / denominators[i]);
  return {median(logs), median_interval(logs, seed, confidence), logs.size()};
}

}  // namespace pgtune::stats
