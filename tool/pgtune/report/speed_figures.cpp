// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/speed_figures.hpp"

#include <algorithm>
#include <tuple>

#include "tool/pgtune/report/answer_text.hpp"
#include "tool/pgtune/report/result_columns.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::tool {

SpeedFigures speed_figures(const StoredResult& result) {
  const session::RankedVariant& best = result.answer.best();
  const double best_s = result.answer.baseline_best_s;
  SpeedFigures figures;
  figures.tflops = best.tflops;
  // Against the best algorithm the paired ratio of the rounds is shown, never a quotient of two medians; the first
  // heuristic is scaled from it by the two baselines' medians of the same rounds.
  figures.percent_of_best = 100 * best.ratio_to_baseline;
  figures.percent_of_first = best_s > 0 ? figures.percent_of_best * result.answer.baseline_first_s / best_s : 0;
  figures.spread_percent = 100 * best.spread;
  return figures;
}

std::vector<KindSummary> summarise_kinds(const std::vector<const StoredResult*>& results) {
  std::map<std::pair<KindOrder, std::string>, std::vector<const StoredResult*>> by_kind;
  for (const StoredResult* result : results) {
    by_kind[{result->problem.kind_order(), baseline_name(result->answer)}].push_back(result);
  }
  std::vector<KindSummary> out;
  for (const auto& [key, of_kind] : by_kind) {
    KindSummary summary;
    summary.kind = of_kind.front()->problem.kind();
    summary.baseline = baseline_name(of_kind.front()->answer);
    summary.problems = of_kind.size();
    std::vector<double> of_best, of_first;
    for (const StoredResult* result : of_kind) {
      const SpeedFigures figures = speed_figures(*result);
      of_best.push_back(figures.percent_of_best);
      of_first.push_back(figures.percent_of_first);
      ++summary.verdicts[std::string(verdict_word(result->answer.best(), result->answer.from_final))];
    }
    const auto [least, most] = std::minmax_element(of_best.begin(), of_best.end());
    summary.percent_of_best = stats::geometric_mean(of_best);
    summary.percent_of_first = stats::geometric_mean(of_first);
    summary.least_percent = *least;
    summary.most_percent = *most;
    out.push_back(std::move(summary));
  }
  return out;
}

}  // namespace pgtune::tool
