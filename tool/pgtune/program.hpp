// SPDX-License-Identifier: MIT
// pgtune's command line: parses it, runs one command, and maps errors to exit codes.
#pragma once

#include "tool/pgtune/rooms.hpp"

namespace pgtune::tool {

/// Returns the process's exit code; never throws.
[[nodiscard]] int run_command_line(int argc, char** argv, Rooms rooms);

}  // namespace pgtune::tool
