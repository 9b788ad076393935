// SPDX-License-Identifier: MIT
// A request of pgtune search, and its execution: planned, answered from the database or by recordings, or searched.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/measuring/measuring_run.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// The common properties of problems for the same templates: dtype, type of C and epilogue.
using KindOfProblem = std::tuple<Dtype, ElementType, std::string>;

[[nodiscard]] KindOfProblem kind_of(const Problem& problem);

/// The options of the command line.
struct SearchTask {
  MeasuringOptions measuring;
  std::string ends_with;  ///< in words, when the search of a problem ends
  std::vector<Problem> problems;
  std::vector<session::FamilyRequest> families;         ///< ranges of M
  std::vector<double> problem_weights, family_weights;  ///< shares of the list's time
  std::optional<double> total_s;                        ///< for all of them, by the clock on the wall
  session::Budget probe_budget;                         ///< of each plain search that probes a range
  std::map<KindOfProblem, space::TemplateSet> templates;
  std::map<std::string, session::Budget> budgets;  ///< by problems' keys, instead of the session's
  bool dry_run = false, counters = false;

  [[nodiscard]] const space::TemplateSet& templates_of(const Problem& problem) const {
    return templates.at(kind_of(problem));
  }
  /// By how much each problem's time may grow where several GPUs share them: until the busiest one takes the total.
  [[nodiscard]] double budget_factor(std::size_t gpus) const;
  [[nodiscard]] session::Budget budget_of(const Problem& problem, double factor) const;
};

/// Shows every problem's result, and stores the measurements. Throws CommandError, db::Error.
[[nodiscard]] ExitCode run(const SearchTask& task, Context& context, ResultDocument& results);

}  // namespace pgtune::tool
