// SPDX-License-Identifier: MIT
// What makes this process a well-behaved child of pgtune.
#pragma once

#include <string>

#include "tuner/util/file_descriptor.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::worker {

/// Moves standard output to a private descriptor, which it returns, and points descriptor 1 at standard error: nothing
/// a library prints can then get between the replies. Call before any library does.
[[nodiscard]] Result<int> take_over_stdout();

/// The file of requests, or nothing open where `path` is empty. Errors (environment): it cannot be read.
[[nodiscard]] Result<FileDescriptor> open_input(const std::string& path);

/// Dies with the parent (SIGKILL, also in the middle of a compile or a kernel) and leaves Ctrl-C to it: a terminal
/// sends SIGINT to the whole process group, and the parent may want to finish what is in flight. Errors (environment):
/// the parent is gone already, or the kernel refuses.
[[nodiscard]] Result<void> tie_to_parent();

}  // namespace pgtune::worker
