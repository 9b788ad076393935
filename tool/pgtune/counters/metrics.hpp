// SPDX-License-Identifier: MIT
// Which of the profiler's metrics each counter comes from, and what their numbers mean.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/kernel_counters.hpp"

namespace pgtune::tool {

/// A cell of the profiler's table with its column's unit.
struct MetricCell {
  std::string text;  ///< "2,700,128", "n/a"
  std::string unit;  ///< "ns", "%", "Mbyte"
};
using MetricRow = std::map<std::string, MetricCell, std::less<>>;  ///< of one kernel, by the metric's name

/// Every metric that counters come from.
[[nodiscard]] std::vector<std::string> metric_names();

/// What a row of the table says; a metric that it lacks, that has no number ("n/a") or a unit of another kind is an
/// absent counter. Not filled: profiler and kernel.
[[nodiscard]] KernelCounters counters_of(const MetricRow& row);

/// "1,234.5" as a number; nothing for what is none.
[[nodiscard]] std::optional<double> metric_number(std::string text);

}  // namespace pgtune::tool
