// SPDX-License-Identifier: MIT
// The options that say which pipeline is meant: what `pgtune pipeline` and `pgtune export pipeline` share.
#pragma once

#include <string>

#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tuner/session/host_pipeline/pipeline_search.hpp"

namespace pgtune::tool {

class WhichPipeline {
 public:
  void add_to(CommandLine& app, const char* group);
  /// Throws CommandError (usage): not one problem, or one that has no pipeline.
  [[nodiscard]] pipeline::StreamedProblem streamed() const;
  /// Cut and memory, where they were given. Throws CommandError (usage) for unknown words.
  void read_into(session::PipelineOptions& options) const;

 private:
  ProblemOptions problems_;
  std::string stream_ = "A,D", cut_, memory_;
};

}  // namespace pgtune::tool
