// SPDX-License-Identifier: MIT
// Every sub-command, in the order of the help.
#pragma once

#include <memory>
#include <vector>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/rooms.hpp"

namespace pgtune::tool {

/// The core's commands, with those of the rooms after the measuring ones; moves them out of `rooms`.
[[nodiscard]] std::vector<std::unique_ptr<Command>> make_commands(Rooms& rooms);

}  // namespace pgtune::tool
