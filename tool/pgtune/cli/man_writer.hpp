// SPDX-License-Identifier: MIT
// The manual page, generated from the tree of commands and options that --help shows.
#pragma once

#include <string>

#include "tool/pgtune/cli/command_line.hpp"

namespace pgtune::tool {

/// pgtune(1) in roff, for man and mandoc: one section a command. `root` is the whole application.
[[nodiscard]] std::string write_man_page(const CommandLine& root);

}  // namespace pgtune::tool
