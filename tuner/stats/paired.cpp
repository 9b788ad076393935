// SPDX-License-Identifier: MIT
#include "tuner/stats/paired.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pgtune::stats {

LogRatio paired_log_ratio(std::span<const double> numerators, std::span<const double> denominators, double confidence) {
  std::vector<double> logs(std::min(numerators.size(), denominators.size()));
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = std::log(numerators[i] / denominators[i]);
  const MeanInterval mean = batch_mean_interval(logs, confidence);
  return {mean.mean, mean.interval, logs.size()};
}

}  // namespace pgtune::stats
