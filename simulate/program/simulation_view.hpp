// SPDX-License-Identifier: MIT
// What simulations found, for people and programs.
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

/// A line a strategy, and what the reader of such figures has to know; `per_problem`: a table of the problems too.
[[nodiscard]] std::string simulation_text(const Simulation& simulation, bool per_problem);
[[nodiscard]] nlohmann::json simulation_json(const Simulation& simulation);
/// A line for each strategy and budget, of all tables (no problem) and of each; one with the budget "enough" where the
/// strategy would have ended by itself.
[[nodiscard]] std::string simulation_csv(const Simulation& simulation);

}  // namespace pgtune::tool
