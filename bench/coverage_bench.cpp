// SPDX-License-Identifier: MIT
#include "bench/coverage_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/median_interval.hpp"
#include "bench/simulated_loads.hpp"
#include "tests/support/power_model.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/session/rounds/final.hpp"
#include "tuner/session/rounds/race_cut.hpp"
#include "tuner/session/rounds/round_order.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/interval.hpp"

namespace pgtune::bench {
namespace {

using session::SampleTimes;

/// Of the finalists' times.
constexpr double kTimes = 0.01;
constexpr double kMargin = 0.003;

using IntervalOf = std::function<stats::Interval(const std::vector<double>& logs, int looks)>;

struct Method {
  std::string name;
  IntervalOf interval;
  int rows = 0, held = 0, winners_held = 0, finals = 0, rounds = 0;
  double half_width = 0;
};

std::vector<double> log_ratios(const SampleTimes& over, const SampleTimes& under, std::size_t rounds) {
  std::vector<double> out;
  for (std::size_t i = 0; i < rounds; ++i) out.push_back(std::log(over[i] / under[i]));
  return out;
}

/// The first contender stands for the baseline, so the race's order is that of the others.
struct SimulatedFinal {
  std::vector<double> truth_s;
  std::vector<SampleTimes> times_s;

  [[nodiscard]] std::vector<std::size_t> order(std::size_t rounds) const {
    std::vector<SampleTimes> variants;
    for (std::size_t i = 1; i < times_s.size(); ++i) {
      variants.emplace_back(times_s[i].begin(), times_s[i].begin() + static_cast<std::ptrdiff_t>(rounds));
    }
    auto order = session::race_order(variants);
    for (std::size_t& i : order) ++i;
    return order;
  }
};

SimulatedFinal simulate(int field, int rounds, double lead_in_s, double timed_s, double noise, std::uint64_t seed) {
  support::PowerGpu gpu;
  gpu.sample_noise = noise;
  std::mt19937_64 random(seed);
  const auto loads = simulated_loads(field, kTimes, gpu, random);
  support::PowerModel model(gpu, random());
  const session::RoundOrder orders(loads.size(), random());
  SimulatedFinal out;
  for (const auto& load : loads) out.truth_s.push_back(model.alone_s(load));
  out.times_s.resize(loads.size());
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t i : orders.order(round)) {
      out.times_s[i].push_back(model.sample(loads[i], lead_in_s, timed_s).launch_s);
    }
  }
  return out;
}

/// Rounds after which this method would have ended the final.
std::size_t rounds_taken(const SimulatedFinal& final, const Method& method, const session::SessionOptions& options) {
  const int looks = session::planned_final_looks(session::final_plan(options, Sampling::kShort));
  int rounds = options.final_rounds;
  while (rounds < options.max_final_rounds) {
    const auto taken = static_cast<std::size_t>(rounds);
    const auto order = final.order(taken);
    const auto best_two = method.interval(log_ratios(final.times_s[order[1]], final.times_s[order[0]], taken), looks);
    const double tie = std::log1p(kMargin);
    if (!best_two.contains(0) || (best_two.low >= -tie && best_two.high <= tie)) break;
    rounds = std::min(rounds + session::kMoreFinalRounds, options.max_final_rounds);
  }
  return static_cast<std::size_t>(rounds);
}

void judge(const SimulatedFinal& final, Method& method, const session::SessionOptions& options) {
  const int looks = session::planned_final_looks(session::final_plan(options, Sampling::kShort));
  const std::size_t rounds = rounds_taken(final, method, options);
  const std::size_t winner = final.order(rounds).front();
  for (std::size_t i = 1; i < final.times_s.size(); ++i) {
    const auto interval = method.interval(log_ratios(final.times_s[0], final.times_s[i], rounds), looks);
    const bool held = interval.contains(std::log(final.truth_s[0] / final.truth_s[i]));
    ++method.rows;
    method.held += held ? 1 : 0;
    method.winners_held += held && i == winner ? 1 : 0;
    method.half_width += (interval.high - interval.low) / 2;
  }
  ++method.finals;
  method.rounds += static_cast<int>(rounds);
}

std::vector<Method> methods() {
  return {{"medians", [](const auto& logs, int) { return median_interval(logs, 1); }},
          {"batch means", [](const auto& logs, int looks) {
             return stats::batch_mean_interval(logs, stats::look_confidence(looks)).interval;
           }}};
}

}  // namespace

void bench_coverage(int finals, double lead_in_s, double timed_s, double noise) {
  using tool::Align;
  tool::TextTable table({{"contenders", Align::kRight},
                         {"rounds", Align::kRight},
                         {"taken", Align::kRight},
                         {"interval"},
                         {"holds the truth", Align::kRight},
                         {"the winner's does", Align::kRight},
                         {"half width", Align::kRight}});
  for (const int field : {4, 8, 11}) {
    for (const int rounds : {12, 24, 48}) {
      std::vector<SimulatedFinal> simulated;
      for (int i = 0; i < finals; ++i) {
        simulated.push_back(simulate(field, 2 * rounds, lead_in_s, timed_s, noise, static_cast<std::uint64_t>(i) + 1));
      }
      for (const bool extended : {false, true}) {
        session::SessionOptions options;
        options.final_rounds = rounds;
        options.max_final_rounds = extended ? 2 * rounds : rounds;
        for (Method& method : methods()) {
          for (const SimulatedFinal& final : simulated) judge(final, method, options);
          const auto percent = [](double part, int whole, int digits) {
            return fmt::format("{:.{}f} %", 100 * part / whole, digits);
          };
          table.add_row({std::to_string(field),
                         fmt::format("{}{}", rounds, extended ? fmt::format(" to {}", 2 * rounds) : ""),
                         fmt::format("{:.0f}", static_cast<double>(method.rounds) / method.finals), method.name,
                         percent(method.held, method.rows, 1), percent(method.winners_held, method.finals, 1),
                         percent(method.half_width, method.rows, 3)});
        }
      }
    }
  }
  fmt::print("{} finals each, samples of {:.0f} ms after a lead-in of {:.0f} ms, noise {:.1f} %\n{}\n", finals,
             1000 * timed_s, 1000 * lead_in_s, 100 * noise, table.text());
}

}  // namespace pgtune::bench
