// SPDX-License-Identifier: MIT
// What every form of the report says of a winner's speed beside cuBLASLt's, and of all winners of one dtype.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "tool/pgtune/report/stored_results.hpp"

namespace pgtune::tool {

struct SpeedFigures {
  double tflops = 0, percent_of_first = 0, percent_of_best = 0, spread_percent = 0;
};
[[nodiscard]] SpeedFigures speed_figures(const StoredResult& result);

/// The problems of one dtype together.
struct DtypeSummary {
  Dtype dtype = Dtype::kF32;
  std::size_t problems = 0;
  double percent_of_best = 0, percent_of_first = 0;  ///< geometric means
  double least_percent = 0, most_percent = 0;        ///< of cuBLASLt's best
  std::map<stats::Verdict, std::size_t> verdicts;    ///< only those that occur
};
/// In the order of the dtypes. Of GEMM alone: operations are compared with something else.
[[nodiscard]] std::vector<DtypeSummary> summarise_dtypes(const std::vector<const StoredResult*>& results);

}  // namespace pgtune::tool
