// SPDX-License-Identifier: MIT
// Common parts of the commands of `pgtune db`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tool/pgtune/cli/command.hpp"

namespace pgtune::tool {

/// copy, merge, dump and prune, in the order of the help.
[[nodiscard]] std::vector<std::unique_ptr<Command>> make_db_content_commands();

/// -o, --output: a file that must not exist.
void add_output_option(CommandLine& app, std::string& output);
/// Throws CommandError (usage) if the file of --output exists.
void require_new_file(const std::string& output);

}  // namespace pgtune::tool
