// SPDX-License-Identifier: MIT
// What every form of the report says of a winner's speed beside cuBLASLt's, and of all winners of one dtype.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

struct SpeedFigures {
  double tflops = 0, percent_of_first = 0, percent_of_best = 0, spread_percent = 0;
};
[[nodiscard]] SpeedFigures speed_figures(const StoredResult& result);

/// The problems of one kind together: GEMM of a dtype, or an operation beside one baseline.
struct KindSummary {
  std::string kind, baseline;  ///< Problem::kind(), baseline_name()
  std::size_t problems = 0;
  double percent_of_best = 0, percent_of_first = 0;  ///< geometric means
  double least_percent = 0, most_percent = 0;        ///< of the baseline's best
  std::map<std::string, std::size_t> verdicts;       ///< by verdict_word(), only those that occur
};
/// GEMM first, in the order of the dtypes, then operations by name.
[[nodiscard]] std::vector<KindSummary> summarise_kinds(const std::vector<const StoredResult*>& results);

}  // namespace pgtune::tool
