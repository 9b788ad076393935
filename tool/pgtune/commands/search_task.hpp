// SPDX-License-Identifier: MIT
// What pgtune search is asked for, and how it is done: planned, answered from the database or by recordings, or
// searched.
#pragma once

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

/// What problems have in common that the same templates compute: dtype, type of C and epilogue.
using KindOfProblem = std::tuple<Dtype, ElementType, std::string>;

[[nodiscard]] KindOfProblem kind_of(const Problem& problem);

/// What the command line asks for.
struct SearchTask {
  MeasuringOptions measuring;
  std::string effort;  ///< said before anything is measured; empty: none was asked for
  std::vector<Problem> problems;
  std::map<KindOfProblem, space::TemplateSet> templates;
  bool dry_run = false, counters = false;

  [[nodiscard]] const space::TemplateSet& templates_of(const Problem& problem) const {
    return templates.at(kind_of(problem));
  }
};

/// Shows every problem's result, and stores what was measured. Throws CommandError, db::Error.
[[nodiscard]] ExitCode run(const SearchTask& task, Context& context, ResultDocument& results);

}  // namespace pgtune::tool
