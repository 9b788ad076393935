// SPDX-License-Identifier: MIT
#include "tuner/session/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/paired.hpp"

namespace pgtune::session {
namespace {

/// Differences below this are not worth telling apart: clocks and placement move more from one session to the next.
constexpr double kTieMargin = 0.003;

std::vector<double> per_launch(const std::vector<Block>& blocks) {
  std::vector<double> times;
  times.reserve(blocks.size());
  for (const Block& block : blocks) times.push_back(block.per_launch_s());
  return times;
}

/// ln(time of `over` / time of `under`) in the rounds both have.
stats::LogRatio log_ratio(const std::vector<Block>& over, const std::vector<Block>& under, std::uint64_t seed) {
  std::map<int, double> by_round;
  for (const Block& block : under) by_round[block.round] = block.per_launch_s();
  std::vector<double> numerators, denominators;
  for (const Block& block : over) {
    const auto match = by_round.find(block.round);
    if (match == by_round.end() || match->second <= 0 || block.per_launch_s() <= 0) continue;
    numerators.push_back(block.per_launch_s());
    denominators.push_back(match->second);
  }
  return stats::paired_log_ratio(numerators, denominators, seed);
}

RankedVariant ranked_by_blocks(const Problem& problem, const MeasuredVariant& measured) {
  const auto times = per_launch(measured.blocks);
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
  best.ratio_to_reference = winner.ratio_to_reference;
  best.ratio_low = winner.ratio_low;
  best.ratio_high = winner.ratio_high;
  return best;
}

std::vector<std::size_t> order_by_time(const std::vector<RankedVariant>& rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].time_s < rows[b].time_s; });
  return order;
}

const MeasuredReference* fastest(const std::vector<MeasuredReference>& references) {
  const MeasuredReference* best = nullptr;
  double best_s = 0;
  for (const MeasuredReference& reference : references) {
    const double time_s = stats::median(per_launch(reference.blocks));
    if (time_s > 0 && (best == nullptr || time_s < best_s)) {
      best = &reference;
      best_s = time_s;
    }
  }
  return best;
}

struct Ties {
  std::vector<std::size_t> all;       ///< the fastest included
  std::vector<std::size_t> eligible;  ///< of these, who may be declared the winner
};

Ties find_ties(const std::vector<MeasuredVariant>& variants, std::size_t fastest_index, std::uint64_t seed) {
  Ties ties{{fastest_index}, {fastest_index}};
  const double margin = std::log1p(kTieMargin);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (i == fastest_index) continue;
    const auto ratio = log_ratio(variants[i].blocks, variants[fastest_index].blocks, seed);
    if (ratio.pairs == 0) continue;
    const bool inside = ratio.interval.low >= -margin && ratio.interval.high <= margin;
    if (!inside && !ratio.interval.contains(0)) continue;
    ties.all.push_back(i);
    if (ratio.median <= margin) ties.eligible.push_back(i);
  }
  return ties;
}

}  // namespace

Ranking rank_final(const Problem& problem, const std::vector<MeasuredVariant>& variants,
                   const std::vector<MeasuredReference>& references, int first_algorithm, std::uint64_t seed) {
  const MeasuredReference* reference = fastest(references);
  std::vector<RankedVariant> rows;
  for (const MeasuredVariant& measured : variants) {
    RankedVariant row = ranked_by_blocks(problem, measured);
    if (reference != nullptr) {
      const auto ratio = log_ratio(reference->blocks, measured.blocks, seed);
      if (ratio.pairs > 0) {
        row.ratio_to_reference = std::exp(ratio.median);
        row.ratio_low = std::exp(ratio.interval.low);
        row.ratio_high = std::exp(ratio.interval.high);
      }
    }
    rows.push_back(std::move(row));
  }

  std::vector<std::size_t> order = order_by_time(rows);
  const Ties ties = find_ties(variants, order.front(), seed);
  const auto cost = [&](std::size_t i) {
    return std::tuple(variants[i].smem_bytes, variants[i].build.registers, variants[i].variant.key());
  };
  const std::size_t winner = *std::min_element(ties.eligible.begin(), ties.eligible.end(),
                                               [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); });
  const auto place = std::find(order.begin(), order.end(), winner);
  std::rotate(order.begin(), place, place + 1);

  Ranking ranking;
  ranking.best = best_from(rows[winner]);
  for (const std::size_t i : ties.all) {
    if (i != winner) ranking.best.ties.push_back(variants[i].variant.key());
  }
  for (const MeasuredReference& measured : references) {
    if (measured.algorithm == first_algorithm) {
      ranking.best.reference_first_s = stats::median(per_launch(measured.blocks));
    }
  }
  if (reference != nullptr) ranking.best.reference_best_s = stats::median(per_launch(reference->blocks));
  for (const std::size_t i : order) ranking.ranked.push_back(rows[i]);
  return ranking;
}

Ranking rank_screening(const Problem& problem, const std::vector<MeasuredVariant>& variants,
                       const ReferenceReport& reference) {
  const auto reference_s = [&](int algorithm) {
    const auto i = static_cast<std::size_t>(algorithm);
    return i < reference.algorithms.size() ? reference.algorithms[i].time_s : 0;
  };
  std::vector<RankedVariant> rows;
  for (const MeasuredVariant& measured : variants) {
    RankedVariant row = ranked_by_blocks(problem, measured);
    const auto times = per_launch(measured.blocks);
    const auto ratio = [&](double time_s) { return time_s > 0 ? reference_s(reference.best) / time_s : 0; };
    row.ratio_to_reference = ratio(row.time_s);
    row.ratio_low = ratio(stats::quantile(times, 1));
    row.ratio_high = ratio(stats::quantile(times, 0));
    rows.push_back(std::move(row));
  }
  Ranking ranking;
  for (const std::size_t i : order_by_time(rows)) ranking.ranked.push_back(rows[i]);
  ranking.best = best_from(ranking.ranked.front());
  ranking.best.reference_first_s = reference_s(reference.first);
  ranking.best.reference_best_s = reference_s(reference.best);
  return ranking;
}

}  // namespace pgtune::session
