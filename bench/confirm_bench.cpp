// SPDX-License-Identifier: MIT
#include "bench/confirm_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/simulated_loads.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/session/rounds/confirm.hpp"
#include "tuner/session/rounds/round_order.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::bench {
namespace {

using session::RoundEntry;

constexpr int kVariants = 3, kAlgorithms = 3;  ///< the last algorithm is the library's first choice
constexpr int kFirst = kAlgorithms - 1;
constexpr double kRepeats = 0.004;  ///< by which the ratio of a search should be that of the best to the best

/// Loads by contender: the variants, then the algorithms.
struct SimulatedGpu {
  SimulatedGpu(double times, double noise, double lead_in_s, double timed_s, std::uint64_t seed)
      : random(seed), model(gpu_with(noise), random()), lead(lead_in_s), timed(timed_s) {
    loads = simulated_loads(kVariants + kAlgorithms, times, gpu_with(noise), random);
  }

  static support::PowerGpu gpu_with(double noise) {
    support::PowerGpu gpu;
    gpu.sample_noise = noise;
    return gpu;
  }

  static std::size_t load_of(const RoundEntry& entry) {
    if (const auto* const algorithm = algorithm_of(entry.contender))
      return static_cast<std::size_t>(kVariants + algorithm->index);
    return *entry.index;
  }

  [[nodiscard]] double truth_s(std::size_t load) const { return model.alone_s(loads[load]); }

  void measure(std::vector<RoundEntry>& field, int rounds) {
    const session::RoundOrder orders(field.size(), random());
    for (int round = 0; round < rounds; ++round) {
      for (const std::size_t i : orders.order(round)) {
        const auto measured = model.sample(loads[load_of(field[i])], lead, timed);
        Sample sample;
        sample.round = round + 1;
        sample.launches = 1;
        sample.time_s = measured.launch_s;
        sample.sm_clock_hz = measured.clock_hz;
        field[i].samples.push_back(sample);
        ++samples;
      }
    }
  }

  std::mt19937_64 random;
  support::PowerModel model;
  double lead, timed;
  std::vector<support::PowerLoad> loads;
  int samples = 0;
};

std::vector<RoundEntry> final_field() {
  std::vector<RoundEntry> field;
  for (std::size_t i = 0; i < kVariants; ++i) {
    protocol::BuiltVariant built;
    built.variant = {"simulated", {{"A", static_cast<std::int64_t>(i)}}};
    field.push_back({built, i});
  }
  for (int i = 0; i < kAlgorithms; ++i) field.push_back(session::baseline_entry(i));
  return field;
}

struct ClaimTally {
  int searches = 0, held = 0, changed = 0, behind = 0, missed = 0, off = 0, samples = 0;
  double half_width = 0, furthest = 0;
};

/// One search by either plan.
void simulate_search(SimulatedGpu& gpu, bool confirms, ClaimTally& tally) {
  session::SessionOptions options;
  const session::FinalPlan plan = session::final_plan(options, Sampling::kSettled, confirms);
  std::vector<RoundEntry> field = final_field();
  gpu.measure(field, plan.rounds);
  session::RankingBasis basis{session::baselines_of(field), kFirst, session::kSettledMargin, 1};
  session::Answer answer;
  const Problem problem = parse_shape("4096x4096x4096").value();
  session::rank_final(problem, session::variants_of(field), basis, answer);
  if (confirms) {
    const Variant chosen = answer.best().variant;
    field = session::confirm_field(field, chosen);
    gpu.measure(field, session::confirm_rounds(field.size()));
    basis.baselines = session::baselines_of(field);
    session::rank_confirmed(problem, session::variants_of(field), basis, answer);
    tally.changed += answer.best().variant == chosen ? 0 : 1;
  }
  const auto fastest =
      std::min_element(basis.baselines.begin(), basis.baselines.end(), [](const auto& a, const auto& b) {
        return stats::median(session::per_launch_times(a.samples)) <
               stats::median(session::per_launch_times(b.samples));
      });
  const session::RankedVariant& best = answer.best();
  const auto winner = static_cast<std::size_t>(std::get<std::int64_t>(*best.variant.find("A")));
  const double truth = gpu.truth_s(static_cast<std::size_t>(kVariants + fastest->algorithm)) / gpu.truth_s(winner);
  const auto fastest_s = [&](std::size_t begin, std::size_t end) {
    double least_s = gpu.truth_s(begin);
    for (std::size_t i = begin; i < end; ++i) least_s = std::min(least_s, gpu.truth_s(i));
    return least_s;
  };
  const double fastest_variant_s = fastest_s(0, kVariants);
  const double behind = gpu.truth_s(winner) / fastest_variant_s - 1;
  const double of_the_best = fastest_s(kVariants, kVariants + kAlgorithms) / fastest_variant_s;
  ++tally.searches;
  tally.held += best.ratio_low <= truth && truth <= best.ratio_high ? 1 : 0;
  tally.behind += behind > session::kSettledMargin ? 1 : 0;
  tally.missed += behind > 1e-6 && answer.ties.empty() ? 1 : 0;
  tally.half_width += (best.ratio_high - best.ratio_low) / 2 / best.ratio_to_baseline;
  tally.off += std::abs(best.ratio_to_baseline / of_the_best - 1) > kRepeats ? 1 : 0;
  tally.furthest = std::max(tally.furthest, behind);
  tally.samples += gpu.samples;
}

}  // namespace

void bench_confirm(int searches, double lead_in_s, double timed_s, double noise) {
  using tool::Align;
  tool::TextTable table({{"variants within", Align::kRight},
                         {"plan"},
                         {"winner's interval holds the truth", Align::kRight},
                         {"half width", Align::kRight},
                         {"winner changed", Align::kRight},
                         {"more than 0.5 % behind", Align::kRight},
                         {"furthest", Align::kRight},
                         {"fastest neither declared nor a tie", Align::kRight},
                         {"ratio more than 0.4 % off", Align::kRight},
                         {"samples", Align::kRight}});
  for (const double times : {0.0, 0.005, 0.01, 0.03}) {
    for (const bool confirms : {false, true}) {
      ClaimTally tally;
      for (int i = 0; i < searches; ++i) {
        SimulatedGpu gpu(times, noise, lead_in_s, timed_s, static_cast<std::uint64_t>(i) + 1);
        simulate_search(gpu, confirms, tally);
      }
      const auto percent = [&](double part, int digits) {
        return fmt::format("{:.{}f} %", 100 * part / tally.searches, digits);
      };
      table.add_row({fmt::format("{:.1f} %", 100 * times), confirms ? "chosen, then confirmed" : "the final claims",
                     percent(tally.held, 1), percent(tally.half_width, 2), percent(tally.changed, 1),
                     percent(tally.behind, 1), fmt::format("{:.2f} %", 100 * tally.furthest), percent(tally.missed, 1),
                     percent(tally.off, 1),
                     fmt::format("{:.1f}", static_cast<double>(tally.samples) / tally.searches)});
    }
  }
  fmt::print("{} searches each, samples of {:.0f} ms after a lead-in of {:.0f} ms, noise {:.1f} %\n{}\n", searches,
             1000 * timed_s, 1000 * lead_in_s, 100 * noise, table.text());
}

}  // namespace pgtune::bench
