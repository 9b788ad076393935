// SPDX-License-Identifier: MIT
// The profiler's metrics behind each counter, and the meaning of their numbers.
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

/// Every metric that the counters need.
[[nodiscard]] std::vector<std::string> metric_names();

/// The counters of a table's row. A missing metric, one without a number ("n/a") or one with a unit of another kind is
/// an absent counter. Does not fill profiler and kernel.
[[nodiscard]] KernelCounters counters_of(const MetricRow& row);

/// "1,234.5" as a number; nothing for other text.
[[nodiscard]] std::optional<double> metric_number(std::string text);

}  // namespace pgtune::tool
