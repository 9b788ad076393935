// SPDX-License-Identifier: MIT
#include "tuner/session/answer/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

RankedVariant ranked_by_samples(const Problem& problem, const MeasuredVariant& measured) {
  const auto times = per_launch_times(measured.samples);
  RankedVariant out;
  out.variant = measured.variant;
  out.build = measured.build;
  out.time_s = stats::median(times);
  out.tflops = out.time_s > 0 ? problem.flops() / out.time_s / 1e12 : 0;
  out.spread = stats::relative_spread(times);
  return out;
}

BestRecord best_from(const RankedVariant& winner) {
  BestRecord best;
  best.variant = winner.variant;
  best.build = winner.build;
  best.time_s = winner.time_s;
  best.tflops = winner.tflops;
  best.ratio_to_baseline = winner.ratio_to_baseline;
  best.ratio_low = winner.ratio_low;
  best.ratio_high = winner.ratio_high;
  best.verdict = winner.verdict;
  return best;
}

std::vector<std::size_t> order_by_time(const std::vector<RankedVariant>& rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].time_s < rows[b].time_s; });
  return order;
}

const MeasuredBaseline* fastest(const std::vector<MeasuredBaseline>& baselines) {
  const MeasuredBaseline* best = nullptr;
  double best_s = 0;
  for (const MeasuredBaseline& baseline : baselines) {
    const double time_s = stats::median(per_launch_times(baseline.samples));
    if (time_s > 0 && (best == nullptr || time_s < best_s)) {
      best = &baseline;
      best_s = time_s;
    }
  }
  return best;
}

struct Ties {
  std::vector<std::size_t> all;       ///< the fastest included
  std::vector<std::size_t> eligible;  ///< of these, who may be declared the winner
};

Ties find_ties(const std::vector<MeasuredVariant>& variants, std::size_t fastest_index, const RankingBasis& basis) {
  Ties ties{{fastest_index}, {fastest_index}};
  const double margin = std::log1p(basis.margin);
  const double confidence = 1 - 0.05 / static_cast<double>(variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (i == fastest_index) continue;
    const auto ratio = log_time_ratio(variants[i].samples, variants[fastest_index].samples, basis.seed, confidence);
    if (ratio.pairs == 0) continue;
    if (!within(ratio.interval, margin) && !ratio.interval.contains(0)) continue;
    ties.all.push_back(i);
    if (ratio.median <= margin) ties.eligible.push_back(i);
  }
  return ties;
}

RankedVariant ranked_against(const Problem& problem, const MeasuredVariant& measured, const MeasuredBaseline* baseline,
                             const RankingBasis& basis) {
  RankedVariant row = ranked_by_samples(problem, measured);
  if (baseline == nullptr) return row;
  const auto ratio = log_time_ratio(baseline->samples, measured.samples, basis.seed);
  if (ratio.pairs == 0) return row;
  row.ratio_to_baseline = std::exp(ratio.median);
  row.ratio_low = std::exp(ratio.interval.low);
  row.ratio_high = std::exp(ratio.interval.high);
  const auto cycles = log_cycles_ratio(baseline->samples, measured.samples, basis.seed);
  row.verdict = stats::verdict(ratio, cycles, basis.margin);
  return row;
}

}  // namespace

BestRecord best_record(const Problem& problem, const MeasuredVariant& variant, const RankingBasis& basis) {
  const MeasuredBaseline* baseline = fastest(basis.baselines);
  BestRecord best = best_from(ranked_against(problem, variant, baseline, basis));
  best.sm_clock_hz = stats::median(clocks_hz(variant.samples));
  for (const MeasuredBaseline& measured : basis.baselines) {
    if (measured.algorithm != basis.first_algorithm) continue;
    best.baseline_first_s = stats::median(per_launch_times(measured.samples));
  }
  if (baseline == nullptr) return best;
  best.baseline_best_s = stats::median(per_launch_times(baseline->samples));
  best.baseline_clock_hz = stats::median(clocks_hz(baseline->samples));
  const auto cycles = log_cycles_ratio(baseline->samples, variant.samples, basis.seed);
  if (cycles.pairs == 0) return best;
  best.cycles_ratio = std::exp(cycles.median);
  best.cycles_low = std::exp(cycles.interval.low);
  best.cycles_high = std::exp(cycles.interval.high);
  return best;
}

Ranking rank_final(const Problem& problem, const std::vector<MeasuredVariant>& variants, const RankingBasis& basis) {
  const MeasuredBaseline* baseline = fastest(basis.baselines);
  std::vector<RankedVariant> rows;
  rows.reserve(variants.size());
  for (const MeasuredVariant& measured : variants) {
    rows.push_back(ranked_against(problem, measured, baseline, basis));
  }

  std::vector<std::size_t> order = order_by_time(rows);
  const Ties ties = find_ties(variants, order.front(), basis);
  const auto cost = [&](std::size_t i) {
    return std::tuple(variants[i].smem_bytes, variants[i].build.registers, variants[i].variant.key());
  };
  const std::size_t winner = *std::min_element(ties.eligible.begin(), ties.eligible.end(),
                                               [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
  const auto place = std::find(order.begin(), order.end(), winner);
  std::rotate(order.begin(), place, place + 1);

  Ranking ranking;
  ranking.best = best_record(problem, variants[winner], basis);
  for (const std::size_t i : ties.all) {
    if (i != winner) ranking.best.ties.push_back(variants[i].variant.key());
  }
  for (const std::size_t i : order) ranking.ranked.push_back(rows[i]);
  return ranking;
}

Ranking rank_screening(const Problem& problem, const std::vector<MeasuredVariant>& variants,
                       const BaselineReport& baseline) {
  const auto baseline_s = [&](int algorithm) {
    const auto i = static_cast<std::size_t>(algorithm);
    return i < baseline.algorithms.size() ? baseline.algorithms[i].time_s : 0;
  };
  std::vector<RankedVariant> rows;
  for (const MeasuredVariant& measured : variants) {
    RankedVariant row = ranked_by_samples(problem, measured);
    const auto times = per_launch_times(measured.samples);
    const auto ratio = [&](double time_s) { return time_s > 0 ? baseline_s(baseline.best) / time_s : 0; };
    row.ratio_to_baseline = ratio(row.time_s);
    row.ratio_low = ratio(stats::quantile(times, 1));
    row.ratio_high = ratio(stats::quantile(times, 0));
    rows.push_back(std::move(row));
  }
  Ranking ranking;
  for (const std::size_t i : order_by_time(rows)) ranking.ranked.push_back(rows[i]);
  ranking.best = best_from(ranking.ranked.front());
  ranking.best.baseline_first_s = baseline_s(baseline.first);
  ranking.best.baseline_best_s = baseline_s(baseline.best);
  return ranking;
}

}  // namespace pgtune::session
