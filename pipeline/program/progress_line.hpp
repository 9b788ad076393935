// SPDX-License-Identifier: MIT
// What a search for a pipeline does at the moment, on standard error.
#pragma once

#include <string>

#include "pipeline/search/pipeline_search.hpp"
#include "tool/pgtune/cli/terminal/phase_line.hpp"

namespace pgtune::tool {

class ProgressLine {
 public:
  ProgressLine(Terminal& terminal, const pipeline::StreamedProblem& streamed);

  void update(const session::PipelineProgress& progress);

 private:
  PhaseLine line_;
  std::string shape_;
};

}  // namespace pgtune::tool
