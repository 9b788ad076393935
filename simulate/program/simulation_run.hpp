// SPDX-License-Identifier: MIT
// Runs strategies on many tables: what each loses at given budgets of variants, over repeats.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/pgtune/learning/recorded_tables.hpp"
#include "tuner/session/answer.hpp"

namespace pgtune::tool {

struct SimulationTask {
  std::vector<std::string> strategies;  ///< names of search::strategies()
  std::vector<std::size_t> budgets;     ///< ascending
  int repeats = 20;                     ///< with seeds from `seed` on
  std::uint64_t seed = 1;
  double margin = session::NoiseFloor{}.margin;  ///< margin of ties in the stopping rule
  /// The times that `model` predicts for a table's variants in the run of a seed. Must be thread-safe. Empty, or a
  /// result without value: strategies get no predictions.
  std::function<std::optional<search::Expectation>(std::size_t table, std::uint64_t seed)> expect = {};
};

/// Losses of one strategy on one table.
struct TableLosses {
  std::size_t strategy = 0, table = 0;      ///< into the task's strategies and the tables
  std::vector<std::vector<double>> losses;  ///< by budget, one for each repeat; none if the table is too small
  /// Each of the strategy's estimates of its miss with the actual miss at that time, for all budgets.
  std::vector<std::pair<double, double>> expected_and_missed = {};
  /// One for each repeat, if the strategy estimates its miss.
  std::vector<search::SimulatedSearch::Stop> stops = {};
};

/// Runs every strategy on every table, on all cores; strategy by strategy, in the order of the tables. A budget of more
/// than half of a table's variants means little there and is left out. Throws CommandError.
[[nodiscard]] std::vector<TableLosses> simulate(const std::vector<RecordedTable>& tables, const SimulationTask& task);

/// Estimates of a strategy's miss from `from` to less than `to`.
struct Calibration {
  double from = 0, to = 0;
  std::size_t cases = 0;
  double expected = 0, missed = 0;  ///< means
};
/// By intervals of one strategy's estimates; only those with a case.
[[nodiscard]] std::vector<Calibration> calibration(const std::vector<TableLosses>& all, std::size_t strategy);

/// Over repeats, or over repeats and tables.
struct LossSummary {
  std::size_t tables = 0;
  double median = 0, p90 = 0, mean = 0, worst = 0;  ///< 0.01 is 1 % slower than the table's best
};

/// The losses on one table; `tables` is 0 if nothing was simulated.
[[nodiscard]] LossSummary summary(const TableLosses& losses, std::size_t budget);
/// Of one strategy on all tables, each of which counts the same.
[[nodiscard]] LossSummary summary(const std::vector<TableLosses>& all, std::size_t strategy, std::size_t budget);

/// The points at which searches with the stopping rule search::is_enough() would have ended, over repeats, or over
/// repeats and tables.
struct StopSummary {
  double tried_median = 0, tried_p90 = 0;  ///< variants
  LossSummary lost;                        ///< at the stop; of no table if the strategy makes no estimates
};
/// Of one table.
[[nodiscard]] StopSummary stop_summary(const TableLosses& losses);
/// Of one strategy on all tables, each of which counts the same.
[[nodiscard]] StopSummary stop_summary(const std::vector<TableLosses>& all, std::size_t strategy);

}  // namespace pgtune::tool
