// SPDX-License-Identifier: MIT
#include "simulate/program/simulation_run.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/util/host_limits.hpp"

namespace pgtune::tool {
namespace {

Result<void> run_one(const RecordedTable& table, const SimulationTask& task, TableLosses& out) {
  const search::StrategyInfo& strategy = *search::find_strategy(task.strategies[out.strategy]);
  search::SearchSpace space = table.table.space();
  std::vector<std::size_t> budgets = task.budgets;
  std::erase_if(budgets, [&](std::size_t budget) { return 2 * budget > table.table.variants.size(); });
  out.losses.resize(task.budgets.size());
  for (int repeat = 0; repeat < task.repeats && !budgets.empty(); ++repeat) {
    const std::uint64_t seed = task.seed + static_cast<std::uint64_t>(repeat);
    std::optional<search::Expectation> expected;
    if (task.expect && strategy.asks_expectation) expected = task.expect(out.table, seed);
    if (expected) space.expectation = [&] { return Result<search::Expectation>(*expected); };
    TRY_ASSIGN(const auto found, search::simulated_search(table.table, space, strategy, seed, budgets, task.margin));
    if (found.stop) out.stops.push_back(*found.stop);
    for (std::size_t i = 0; i < found.losses.size(); ++i) {
      const search::SimulatedLoss& own = found.losses[i];
      out.losses[i].push_back(own.loss);
      if (own.expected) out.expected_and_missed.emplace_back(*own.expected, own.loss);
    }
  }
  return {};
}

LossSummary summary_of(const std::vector<double>& losses, std::size_t tables) {
  if (losses.empty()) return {};
  const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
  return {tables, stats::median(losses), stats::quantile(losses, 0.9), sum / static_cast<double>(losses.size()),
          *std::max_element(losses.begin(), losses.end())};
}

StopSummary summary_of(const std::vector<search::SimulatedSearch::Stop>& stops, std::size_t tables) {
  if (stops.empty()) return {};
  std::vector<double> tried, losses;
  for (const search::SimulatedSearch::Stop& stop : stops) {
    tried.push_back(static_cast<double>(stop.tried));
    losses.push_back(stop.loss);
  }
  return {stats::median(tried), stats::quantile(tried, 0.9), summary_of(losses, tables)};
}

}  // namespace

std::vector<TableLosses> simulate(const std::vector<RecordedTable>& tables, const SimulationTask& task) {
  std::vector<TableLosses> all;
  for (std::size_t strategy = 0; strategy < task.strategies.size(); ++strategy) {
    for (std::size_t table = 0; table < tables.size(); ++table) all.push_back({strategy, table, {}});
  }
  std::vector<Result<void>> ends(all.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) ends[i] = run_one(tables[all[i].table], task, all[i]);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = usable_cores(); i > 1; --i) threads.emplace_back(work);
  work();
  threads.clear();  // joins
  for (const Result<void>& end : ends) {
    if (!end) throw CommandError(end.error());
  }
  return all;
}

std::vector<Calibration> calibration(const std::vector<TableLosses>& all, std::size_t strategy) {
  std::vector<Calibration> out;
  double from = 0;
  for (const double to : {0.003, 0.01, 0.02, 0.04, 0.08, 0.16, std::numeric_limits<double>::infinity()}) {
    out.push_back({from, to});
    from = to;
  }
  for (const TableLosses& own : all) {
    if (own.strategy != strategy) continue;
    for (const auto& judged : own.expected_and_missed) {
      const double expected = judged.first;
      Calibration& step = *std::find_if(out.begin(), out.end(), [&](const Calibration& s) { return expected < s.to; });
      ++step.cases;
      step.expected += expected;
      step.missed += judged.second;
    }
  }
  std::erase_if(out, [](const Calibration& step) { return step.cases == 0; });
  for (Calibration& step : out) {
    step.expected /= static_cast<double>(step.cases);
    step.missed /= static_cast<double>(step.cases);
  }
  return out;
}

LossSummary summary(const TableLosses& losses, std::size_t budget) { return summary_of(losses.losses[budget], 1); }

LossSummary summary(const std::vector<TableLosses>& all, std::size_t strategy, std::size_t budget) {
  std::vector<double> losses;
  std::size_t tables = 0;
  for (const TableLosses& own : all) {
    if (own.strategy != strategy || own.losses[budget].empty()) continue;
    ++tables;
    losses.insert(losses.end(), own.losses[budget].begin(), own.losses[budget].end());
  }
  return summary_of(losses, tables);
}

StopSummary stop_summary(const TableLosses& losses) { return summary_of(losses.stops, 1); }

StopSummary stop_summary(const std::vector<TableLosses>& all, std::size_t strategy) {
  std::vector<search::SimulatedSearch::Stop> stops;
  std::size_t tables = 0;
  for (const TableLosses& own : all) {
    if (own.strategy != strategy || own.stops.empty()) continue;
    ++tables;
    stops.insert(stops.end(), own.stops.begin(), own.stops.end());
  }
  return summary_of(stops, tables);
}

}  // namespace pgtune::tool
