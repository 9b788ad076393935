// SPDX-License-Identifier: MIT
#include "tuner/session/answer/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "tuner/session/answer/energy.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

RankedVariant ranked_by_samples(const Problem& problem, const MeasuredVariant& measured) {
  const auto times = per_launch_times(measured.samples);
  RankedVariant out;
  out.variant = measured.variant;
  out.build = measured.build;
  out.smem_bytes = measured.smem_bytes;
  out.time_s = stats::median(times);
  out.tflops = out.time_s > 0 ? problem.flops() / out.time_s / 1e12 : 0;
  out.spread = stats::relative_spread(times);
  return out;
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

bool is_tie(const stats::LogRatio& ratio, double margin) {
  return within(ratio.interval, std::log1p(margin)) || ratio.interval.contains(0);
}

struct Ties {
  std::vector<std::size_t> all;       ///< the fastest included
  std::vector<std::size_t> eligible;  ///< of these, possible winners
};

Ties find_ties(const std::vector<MeasuredVariant>& variants, std::size_t fastest_index, const RankingBasis& basis) {
  Ties ties{{fastest_index}, {fastest_index}};
  const double confidence = stats::look_confidence(basis.looks, 1 - 0.05 / static_cast<double>(variants.size()));
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (i == fastest_index) continue;
    const auto ratio = log_time_ratio(variants[i].samples, variants[fastest_index].samples, confidence);
    if (ratio.pairs == 0) continue;
    const bool has_interval = ratio.pairs >= stats::kLeastValues;
    if (has_interval ? !is_tie(ratio, basis.margin) : ratio.mean > std::log1p(kConfirmReach)) continue;
    ties.all.push_back(i);
    if (has_interval && ratio.mean <= std::log1p(basis.margin)) ties.eligible.push_back(i);
  }
  return ties;
}

RankedVariant ranked_against(const Problem& problem, const MeasuredVariant& measured, const MeasuredBaseline* baseline,
                             const RankingBasis& basis) {
  RankedVariant row = ranked_by_samples(problem, measured);
  row.sm_clock_hz = stats::median(clocks_hz(measured.samples));
  if (baseline == nullptr) {
    row.settled_energy = settled_energy(measured.samples);
    return row;
  }
  row.settled_energy = settled_energy(measured.samples, baseline->samples, basis.looks);
  const double confidence = stats::look_confidence(basis.looks);
  const auto cycles = log_cycles_ratio(baseline->samples, measured.samples, confidence);
  if (cycles.pairs > 0) {
    row.cycles_ratio = std::exp(cycles.mean);
    row.cycles_low = std::exp(cycles.interval.low);
    row.cycles_high = std::exp(cycles.interval.high);
  }
  const auto ratio = log_time_ratio(baseline->samples, measured.samples, confidence);
  if (ratio.pairs == 0) return row;
  row.ratio_to_baseline = std::exp(ratio.mean);
  row.ratio_low = std::exp(ratio.interval.low);
  row.ratio_high = std::exp(ratio.interval.high);
  if (ratio.pairs >= stats::kLeastValues) row.verdict = stats::verdict(ratio, cycles, basis.margin);
  return row;
}

void set_baseline_figures(const RankingBasis& basis, const MeasuredBaseline* best, Answer& answer) {
  answer.baseline_first_s = answer.baseline_best_s = answer.baseline_clock_hz = 0;
  for (const MeasuredBaseline& measured : basis.baselines) {
    if (measured.algorithm != basis.first_algorithm) continue;
    answer.baseline_first_s = stats::median(per_launch_times(measured.samples));
  }
  answer.baseline_settled_energy.reset();
  answer.baseline_algorithm.reset();
  if (best == nullptr) return;
  answer.baseline_algorithm = best->algorithm;
  answer.baseline_settled_energy = settled_energy(best->samples);
  answer.baseline_best_s = stats::median(per_launch_times(best->samples));
  answer.baseline_clock_hz = stats::median(clocks_hz(best->samples));
}

}  // namespace

void rank_final(const Problem& problem, const std::vector<MeasuredVariant>& variants, const RankingBasis& basis,
                Answer& answer) {
  const MeasuredBaseline* baseline = fastest(basis.baselines);
  std::vector<RankedVariant> rows;
  rows.reserve(variants.size());
  for (const MeasuredVariant& measured : variants) rows.push_back(ranked_against(problem, measured, baseline, basis));

  std::vector<std::size_t> order = order_by_time(rows);
  const Ties ties = find_ties(variants, order.front(), basis);
  const auto cost = [&](std::size_t i) {
    return std::tuple(variants[i].smem_bytes, variants[i].build.registers, variants[i].variant.key());
  };
  const std::size_t winner = *std::min_element(ties.eligible.begin(), ties.eligible.end(),
                                               [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
  const auto place = std::find(order.begin(), order.end(), winner);
  std::rotate(order.begin(), place, place + 1);

  answer.ties.clear();
  for (const std::size_t i : ties.all) {
    if (i != winner) answer.ties.push_back(variants[i].variant.key());
  }
  answer.ranking.clear();
  for (const std::size_t i : order) answer.ranking.push_back(std::move(rows[i]));
  set_baseline_figures(basis, baseline, answer);
}

void rank_confirmed(const Problem& problem, const std::vector<MeasuredVariant>& variants, const RankingBasis& basis,
                    Answer& answer) {
  const double margin = std::log1p(basis.margin);
  const auto row_of = [&](const MeasuredVariant& measured) {
    return std::find_if(answer.ranking.begin(), answer.ranking.end(),
                        [&](const RankedVariant& row) { return row.variant == measured.variant; });
  };
  const auto chosen = std::find_if(variants.begin(), variants.end(), [&](const MeasuredVariant& measured) {
    return measured.variant == answer.best().variant;
  });
  const MeasuredBaseline* const baseline = fastest(basis.baselines);
  const MeasuredVariant* winner = &*chosen;
  double winner_lead = 0;
  for (const MeasuredVariant& measured : variants) {
    const bool is_chosen = &measured == &*chosen;
    RankingBasis own = basis;
    if (!is_chosen) own.looks = 2;
    *row_of(measured) = ranked_against(problem, measured, baseline, own);
    if (is_chosen) continue;
    const auto lead = log_time_ratio(chosen->samples, measured.samples);
    if (lead.mean <= winner_lead || (lead.mean <= margin && is_tie(lead, basis.margin))) continue;
    winner = &measured;
    winner_lead = lead.mean;
  }
  for (const MeasuredVariant& measured : variants) {
    std::erase(answer.ties, measured.variant.key());
    if (&measured == winner) continue;
    if (is_tie(log_time_ratio(measured.samples, winner->samples), basis.margin))
      answer.ties.push_back(measured.variant.key());
  }
  const auto best = row_of(*winner);
  std::rotate(answer.ranking.begin(), best, best + 1);
  std::stable_sort(answer.ranking.begin() + 1, answer.ranking.end(),
                   [](const RankedVariant& a, const RankedVariant& b) { return a.time_s < b.time_s; });
  answer.confirm_rounds = static_cast<int>(winner->samples.size());
  const double first_s = answer.baseline_first_s;
  set_baseline_figures(basis, baseline, answer);
  if (answer.baseline_first_s <= 0) answer.baseline_first_s = first_s;
}

void rank_screening(const Problem& problem, const std::vector<MeasuredVariant>& variants,
                    const BaselineReport& baseline, Answer& answer) {
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
  answer.ties.clear();
  answer.ranking.clear();
  for (const std::size_t i : order_by_time(rows)) answer.ranking.push_back(std::move(rows[i]));
  answer.baseline_first_s = baseline_s(baseline.first);
  answer.baseline_best_s = baseline_s(baseline.best);
  answer.baseline_algorithm.reset();
  answer.baseline_clock_hz = 0;
  answer.baseline_settled_energy.reset();
}

}  // namespace pgtune::session
