// SPDX-License-Identifier: MIT
// Results of simulations, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "simulate/program/simulation_run.hpp"
#include "tool/pgtune/learning/learned_expectation.hpp"

namespace pgtune::tool {

/// Everything that was simulated.
struct Simulation {
  SimulationTask task;
  std::string learnt_from;      ///< a sentence on --learn-from; empty without
  std::string left_out;         ///< the word of --leave-out; empty where no strategy learns from other tables
  bool unbiased = false;        ///< the tables' variants were drawn at random
  std::vector<Lesson> lessons;  ///< of model, for each table; empty without --leave-out
  std::vector<RecordedTable> tables;
  std::vector<TableLosses> losses;
};

/// A line per strategy, and what a reader of the figures must know; `per_problem`: also a table of the problems.
[[nodiscard]] std::string simulation_text(const Simulation& simulation, bool per_problem);
[[nodiscard]] nlohmann::json simulation_json(const Simulation& simulation);
/// A line for each strategy and budget, for all tables (no problem) and for each; one with the budget "enough" at the
/// point where the strategy would have stopped.
[[nodiscard]] std::string simulation_csv(const Simulation& simulation);

}  // namespace pgtune::tool
