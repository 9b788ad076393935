// SPDX-License-Identifier: MIT
// The commands of `pgtune db`, in the order of its help, and what they share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tool/pgtune/cli/command.hpp"

namespace pgtune::tool {

[[nodiscard]] std::unique_ptr<Command> make_db_info_command();
[[nodiscard]] std::unique_ptr<Command> make_db_check_command();
[[nodiscard]] std::unique_ptr<Command> make_db_copy_command();
[[nodiscard]] std::unique_ptr<Command> make_db_merge_command();
[[nodiscard]] std::unique_ptr<Command> make_db_dump_command();
[[nodiscard]] std::unique_ptr<Command> make_db_prune_command();
[[nodiscard]] std::unique_ptr<Command> make_db_vacuum_command();

/// -o, --output: a file that must not be there yet.
void add_output_option(CommandLine& app, std::string& output);
/// Throws CommandError (usage) where the file of --output is there.
void require_new_file(const std::string& output);

/// "1 session", "2 sessions".
[[nodiscard]] std::string counted(std::int64_t count, const std::string& noun);

}  // namespace pgtune::tool
