// SPDX-License-Identifier: MIT
// A user's program as a child: its own input, output and terminal, with some variables more.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// Waits for its end and returns its exit code, 128 + N where signal N ended it. Ctrl-C at the terminal ends the
/// program and not pgtune; SIGTERM and SIGHUP are passed on. Errors (environment): it cannot be started.
[[nodiscard]] Result<int> run_program(const std::vector<std::string>& command,
                                      const std::map<std::string, std::string>& environment);

}  // namespace pgtune::tool
