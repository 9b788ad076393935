// SPDX-License-Identifier: MIT
// `pgtune report`: one line per problem with the winner's speed and cuBLASLt's.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/stored_results.hpp"
#include "tuner/session/answer/held.hpp"

namespace pgtune::tool {

// The winner's speed against cuBLASLt's, and the summary of all winners of one dtype, for every form of the report.

struct SpeedFigures {
  double tflops = 0, percent_of_first = 0, percent_of_best = 0, spread_percent = 0;
};
[[nodiscard]] SpeedFigures speed_figures(const StoredResult& result);

/// The problems of one kind: GEMM of a dtype, or an operation with one baseline.
struct KindSummary {
  std::string kind, baseline;  ///< Problem::kind(), baseline_name()
  std::size_t problems = 0;
  double percent_of_best = 0, percent_of_first = 0;  ///< geometric means
  double least_percent = 0, most_percent = 0;        ///< of the baseline's best
  std::map<std::string, std::size_t> verdicts;       ///< by verdict_word(), only those that occur
};
/// GEMM first, in the order of the dtypes, then operations by name.
[[nodiscard]] std::vector<KindSummary> summarise_kinds(const std::vector<const StoredResult*>& results);

void print_speed_report(Terminal& terminal, const std::vector<StoredResult>& results);
[[nodiscard]] nlohmann::json speed_report_json(const std::vector<StoredResult>& results);
[[nodiscard]] std::string speed_report_csv(const std::vector<StoredResult>& results);

// Compares two sets of results of the same problems: faster or slower beyond the noise.

/// One problem before and after, on GPUs of one kind under the same conditions.
struct ComparedResult {
  const StoredResult* before = nullptr;
  const StoredResult* after = nullptr;
  /// From the winners' ratios to the baseline of their own sessions, in which clocks and temperature cancel.
  session::Held change = session::Held::kUnclear;
  double speed_ratio = 0;     ///< the winner's time before over its time after: > 1 is faster now
  double baseline_ratio = 0;  ///< the same for cuBLASLt's best; 0 if it was not measured twice
};

/// Pairs each result of `after` with the one of `before` for the same problem, kind of GPU (with any driver), source
/// and conditions, in the order of `after`; of several candidates the newest session's. Points into both.
[[nodiscard]] std::vector<ComparedResult> compare_results(const std::vector<StoredResult>& before,
                                                          const std::vector<StoredResult>& after);
/// A line for each, the largest change of the ratio first, and how many got faster, slower and stayed the same.
void print_comparison(Terminal& terminal, std::vector<ComparedResult> compared);

}  // namespace pgtune::tool
