// SPDX-License-Identifier: MIT
#include "bench/clock_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/replay/recording_loader.hpp"
#include "tool/pgtune/simulate/learned_expectation.hpp"
#include "tool/pgtune/simulate/settled_clocks.hpp"
#include "tuner/session/settled_times.hpp"

namespace pgtune::bench {
namespace {

using tool::SettledRace;

constexpr std::array<std::size_t, 4> kLeading{1, 2, 4, 8};
constexpr std::uint64_t kSeeds = 8;  ///< of few rows, trees differ by their seed

/// What the best of the first few by `keys` loses against the race's best.
std::vector<double> losses(const SettledRace& race, const std::vector<double>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  double best_s = std::numeric_limits<double>::infinity();
  for (const auto& entrant : race.entrants) best_s = std::min(best_s, entrant.time_s);
  std::vector<double> out;
  for (const std::size_t first : kLeading) {
    double found_s = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min(first, order.size()); ++i)
      found_s = std::min(found_s, race.entrants[order[i]].time_s);
    out.push_back(found_s / best_s - 1);
  }
  return out;
}

}  // namespace

void bench_settled_clocks(const std::vector<std::string>& files) {
  const tool::Catalogue catalogue;
  const tool::KnownTemplates known(catalogue);
  std::vector<SettledRace> races;
  for (const std::string& file : files.empty() ? std::vector<std::string>{""} : files) {
    for (const db::Database& database : tool::open_recordings(file)) {
      for (SettledRace& race : tool::settled_races(database, known)) races.push_back(std::move(race));
    }
  }
  tool::TextTable table({{"race"},
                         {"order"},
                         {"1", tool::Align::kRight},
                         {"2", tool::Align::kRight},
                         {"4", tool::Align::kRight},
                         {"8", tool::Align::kRight}});
  std::array<std::vector<double>, 3> sums;
  for (const SettledRace& race : races) {
    std::vector<search::Experience> others;
    for (std::size_t i = 0; i < races.size(); ++i) {
      if (tool::shape_of(races[i].problem) == tool::shape_of(race.problem)) continue;
      for (search::Experience& own : tool::clock_experiences(races[i], known, i)) others.push_back(std::move(own));
    }
    const search::PredictorTrainer trainer(others);
    std::vector<Variant> variants;
    std::vector<double> times, cycles;
    for (const auto& entrant : race.entrants) {
      variants.push_back(entrant.variant);
      times.push_back(entrant.screened_s);
      cycles.push_back(entrant.screened_cycles);
    }
    const space::TemplateSet templates = catalogue.select("", race.problem);
    std::vector<double> by_expectation(kLeading.size(), 0);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto expected = tool::value_or_throw(session::expected_settled_times(
          trainer.fit_all(seed), templates, race.problem, race.device, variants, cycles));
      const auto own = losses(race, expected);
      for (std::size_t i = 0; i < own.size(); ++i) by_expectation[i] += own[i] / static_cast<double>(kSeeds);
    }
    const std::array<std::pair<const char*, std::vector<double>>, 3> orders{
        std::pair{"screened times", losses(race, times)},
        {"screened cycles", losses(race, cycles)},
        {"expected settled times", by_expectation}};
    for (std::size_t i = 0; i < orders.size(); ++i) {
      std::vector<std::string> cells{race.problem.title(), orders[i].first};
      sums[i].resize(kLeading.size());
      for (std::size_t place = 0; place < kLeading.size(); ++place) {
        const double own = orders[i].second[place];
        cells.push_back(fmt::format("{:.2f}", 100 * own));
        sums[i][place] += own / static_cast<double>(races.size());
      }
      table.add_row(std::move(cells));
    }
  }
  fmt::print("{}\nmeans over {} races:\n", table.text(), races.size());
  for (const auto& sum : sums) {
    for (const double mean : sum) fmt::print(" {:.2f}", 100 * mean);
    fmt::print("\n");
  }
}

}  // namespace pgtune::bench
