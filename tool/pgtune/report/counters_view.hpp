// SPDX-License-Identifier: MIT
// Hardware counters of contenders as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tool/pgtune/report/stored_results.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/kernel_counters.hpp"

namespace pgtune::tool {

// Why a kernel is as fast as it is, in words that follow from its counters by the rules of docs/how-to/reports.md, and
// from nothing else. Pure.

/// The share of one of the GPU's roofs that a kernel uses.
struct RoofUse {
  const char* roof;  ///< "DRAM", "L2", "shared memory", "the tensor cores", "the FMA pipe"
  bool bandwidth;    ///< else a pipe
  double share;
};

/// Every roof with known use: bandwidths as bytes over `time_s` over the measured ceiling, pipes as the share of busy
/// time.
[[nodiscard]] std::vector<RoofUse> roof_uses(const KernelCounters& counters, double time_s,
                                             const std::optional<Ceilings>& ceilings);

/// One statement each, in the order of the rules; empty if the counters allow none. `time_s`: of a launch; 0: unknown,
/// and the profiler's time is used.
[[nodiscard]] std::vector<std::string> reasons(const KernelCounters& counters, double time_s,
                                               const std::optional<Ceilings>& ceilings);

/// Differences from the baseline's kernel: bytes at a level that differ by a twentieth or more.
[[nodiscard]] std::vector<std::string> differences(const KernelCounters& counters, const KernelCounters& baseline,
                                                   std::string_view baseline_name);

/// The text for a stall of KernelCounters::stalls(): "at CTA barriers".
[[nodiscard]] std::string stall_text(std::string_view stall);

/// Stored counters of a result's winner and of its ratio's baseline, under its conditions; nothing if neither has any.
/// Throws db::Error.
[[nodiscard]] std::optional<CounterReport> counters_of(const db::Database& database, const StoredResult& result,
                                                       const std::optional<Ceilings>& ceilings);

/// A report as table cells, with "-" for unknown numbers.
struct CounterTable {
  std::vector<std::string> names;  ///< one column each: "#1", ..., and the baseline
  struct Row {
    std::string title;               ///< "DRAM read, MB"
    std::vector<std::string> cells;  ///< as many as names
  };
  std::vector<Row> rows;                      ///< quantities that some contender has
  std::vector<std::vector<std::string>> why;  ///< for each contender: its kernels, then reasons; or why it has no
                                              ///< counters
};
[[nodiscard]] CounterTable counter_table(const CounterReport& report);

/// counter_reasons() of the winner; empty if it has no counters.
[[nodiscard]] std::vector<std::string> counter_reasons(const CounterReport& report);

/// A table with a column for each contender ("#1", ..., "cuBLASLt"), and for each a line on what limits its speed; or
/// why there are no counters. At most 80 columns, each line ends in a newline.
[[nodiscard]] std::string counters_text(const CounterReport& report);

/// "missing", and a row of "contenders" each: "template" and "variant" or "algorithm", "counters" in SI units and
/// fractions (null with "missing"), "measured_at", "why".
[[nodiscard]] nlohmann::json counters_json(const CounterReport& report);

}  // namespace pgtune::tool
