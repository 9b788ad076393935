// SPDX-License-Identifier: MIT
// The answer of a child process that is asked one thing, where there is nothing else to do meanwhile.
#pragma once

#include <chrono>
#include <string>

#include "tuner/device/child_process.hpp"

namespace pgtune::device {

/// Waits for the child's next line. A signal to this process does not end the wait. Errors (environment): `who` ended,
/// and how; wrote more than the child's limit without ending the line; or wrote nothing for `patience`.
[[nodiscard]] Result<std::string> wait_for_line(ChildProcess& child, const std::string& who,
                                                std::chrono::seconds patience);

}  // namespace pgtune::device
