// SPDX-License-Identifier: MIT
// `pgtune export t4` and `export kernel_tuner`: what searches measured, as files of other tools.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/cli/exit_code.hpp"
#include "tool/pgtune/foreign/foreign_file.hpp"

namespace pgtune::tool {

class TableExport {
 public:
  /// Adds both commands to `app`.
  void add_to(CommandLine& app);
  /// Whether the user gave one of them.
  [[nodiscard]] bool asked() const;
  /// Throws CommandError, db::Error.
  [[nodiscard]] ExitCode run(Context& context) const;

 private:
  std::array<std::pair<ForeignFormat, std::optional<CommandLine>>, 2> lines_{
      std::pair{ForeignFormat::kT4, std::nullopt}, std::pair{ForeignFormat::kKernelTuner, std::nullopt}};
  std::vector<std::string> from_;
  std::string folder_, only_, template_;
};

}  // namespace pgtune::tool
