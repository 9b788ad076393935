// SPDX-License-Identifier: MIT
// Hardware counters side by side, as people and scripts read them.
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

/// How much of one of the GPU's roofs a kernel uses.
struct RoofUse {
  const char* roof;  ///< "DRAM", "L2", "shared memory", "the tensor cores", "the FMA pipe"
  bool bandwidth;    ///< else a pipe
  double share;
};

/// Every roof whose use is known: bandwidths as bytes over `time_s` over what the GPU was measured to reach, pipes as
/// the share of time in which they were busy.
[[nodiscard]] std::vector<RoofUse> roof_uses(const KernelCounters& counters, double time_s,
                                             const std::optional<Ceilings>& ceilings);

/// One statement each, in the order of the rules; empty where the counters allow none. `time_s`: of a launch; 0: only
/// the profiler's is known, which is taken.
[[nodiscard]] std::vector<std::string> reasons(const KernelCounters& counters, double time_s,
                                               const std::optional<Ceilings>& ceilings);

/// What tells a kernel from the baseline's: bytes that differ by a twentieth or more at a level.
[[nodiscard]] std::vector<std::string> differences(const KernelCounters& counters, const KernelCounters& baseline,
                                                   std::string_view baseline_name);

/// What a stall of KernelCounters::stalls() waits for: "at CTA barriers".
[[nodiscard]] std::string stall_text(std::string_view stall);

/// Counters that are stored of a result's winner and of what its ratio is to, under its conditions; nothing where there
/// are none of either. Throws db::Error.
[[nodiscard]] std::optional<CounterReport> counters_of(const db::Database& database, const StoredResult& result,
                                                       const std::optional<Ceilings>& ceilings);

/// What is shown of a report: numbers as people read them, "-" for what nobody knows.
struct CounterTable {
  std::vector<std::string> names;  ///< a column each: "#1", ..., and the baseline
  struct Row {
    std::string title;               ///< "DRAM read, MB"
    std::vector<std::string> cells;  ///< as many as names
  };
  std::vector<Row> rows;                      ///< what somebody has a number for
  std::vector<std::vector<std::string>> why;  ///< of each contender: its kernels, then reasons; or why it has nothing
};
[[nodiscard]] CounterTable counter_table(const CounterReport& report);

/// What counter_reasons() says of the winner; empty where it has no counters.
[[nodiscard]] std::vector<std::string> counter_reasons(const CounterReport& report);

/// A table with a column for each contender ("#1", ..., "cuBLASLt"), and for each a line why it is as fast as it is; or
/// why there are no counters. At most 80 columns, each line ends in a newline.
[[nodiscard]] std::string counters_text(const CounterReport& report);

/// "missing", and a row of "contenders" each: "template" and "variant" or "algorithm", "counters" in SI units and
/// fractions (null with "missing"), "measured_at", "why".
[[nodiscard]] nlohmann::json counters_json(const CounterReport& report);

}  // namespace pgtune::tool
