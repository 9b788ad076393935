// SPDX-License-Identifier: MIT
// Running and weighing processes for the benchmarks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pgtune::bench {

struct Run {
  double wall_s = 0;
  int exit_code = 0;  ///< 128 + signal where it was killed
};

/// Runs a program to its end with its output thrown away (standard error too). Throws std::runtime_error when it cannot
/// be started.
[[nodiscard]] Run run(const std::vector<std::string>& arguments);

/// Proportional set size in bytes of all descendants of this process (shared pages counted once over them), from
/// /proc/PID/smaps_rollup. Processes that vanish meanwhile count nothing.
[[nodiscard]] std::int64_t descendants_pss_bytes();

}  // namespace pgtune::bench
