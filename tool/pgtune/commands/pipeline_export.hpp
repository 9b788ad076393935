// SPDX-License-Identifier: MIT
// `pgtune export pipeline`: the loop of a stored pipeline as a header.
#pragma once

#include <optional>
#include <string>

#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/cli/exit_code.hpp"
#include "tool/pgtune/pipeline/pipeline_options.hpp"

namespace pgtune::tool {

class PipelineExport {
 public:
  /// Adds the command to `app`.
  void add_to(CommandLine& app);
  /// Whether the user gave it.
  [[nodiscard]] bool asked() const { return line_->parsed(); }
  /// Throws CommandError, db::Error.
  [[nodiscard]] ExitCode run(Context& context) const;

 private:
  std::optional<CommandLine> line_;
  WhichPipeline which_;
  std::string database_, output_, name_space_ = "best_pipeline";
};

}  // namespace pgtune::tool
