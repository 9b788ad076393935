// SPDX-License-Identifier: MIT
// Every sub-command, in the order of the help.
#pragma once

#include <memory>
#include <vector>

#include "tool/pgtune/cli/command.hpp"

namespace pgtune::tool {

[[nodiscard]] std::vector<std::unique_ptr<Command>> make_commands();

}  // namespace pgtune::tool
