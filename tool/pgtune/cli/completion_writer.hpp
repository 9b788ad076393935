// SPDX-License-Identifier: MIT
// Shell completion scripts, generated from the tree of commands and options.
#pragma once

#include <string>

#include "tool/pgtune/cli/command_line.hpp"

namespace pgtune::tool {

enum class Shell { kBash, kZsh, kFish };

/// A script for the shell to source: completes commands, their options and file names. `root` is the whole application.
[[nodiscard]] std::string write_completion(const CommandLine& root, Shell shell);

}  // namespace pgtune::tool
