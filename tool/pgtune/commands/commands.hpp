// SPDX-License-Identifier: MIT
// Every sub-command, in the order of the help.
#pragma once

#include <memory>
#include <vector>

#include "tool/pgtune/cli/command.hpp"

namespace pgtune::tool {

[[nodiscard]] std::unique_ptr<Command> make_search_command();
[[nodiscard]] std::unique_ptr<Command> make_bench_command();
[[nodiscard]] std::unique_ptr<Command> make_show_command();
[[nodiscard]] std::unique_ptr<Command> make_report_command();
[[nodiscard]] std::unique_ptr<Command> make_export_command();
[[nodiscard]] std::unique_ptr<Command> make_space_command();
[[nodiscard]] std::unique_ptr<Command> make_inspect_command();
[[nodiscard]] std::unique_ptr<Command> make_ladder_command();
[[nodiscard]] std::unique_ptr<Command> make_devices_command();
[[nodiscard]] std::unique_ptr<Command> make_doctor_command();
[[nodiscard]] std::unique_ptr<Command> make_db_command();
[[nodiscard]] std::unique_ptr<Command> make_completion_command();

[[nodiscard]] std::vector<std::unique_ptr<Command>> make_commands();

}  // namespace pgtune::tool
