// SPDX-License-Identifier: MIT
// What a search for a pipeline does at the moment, on standard error.
#pragma once

#include <string>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/session/host_pipeline/pipeline_search.hpp"

namespace pgtune::tool {

/// On a terminal a live line, which goes away with this object; else a line for each phase.
class ProgressLine {
 public:
  ProgressLine(Terminal& terminal, const pipeline::StreamedProblem& streamed);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const session::PipelineProgress& progress);

 private:
  Terminal& terminal_;
  std::string shape_;
  session::PipelineProgress::Phase phase_ = session::PipelineProgress::Phase::kPrepare;
  bool began_ = false;
};

}  // namespace pgtune::tool
