// SPDX-License-Identifier: MIT
// `pgtune export header --coverage`: what the problems of a list would be served with.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// The problems of a file as --sizes takes, in each dtype that the export has kernels of its operations for. Throws
/// CommandError (usage).
[[nodiscard]] std::vector<Problem> problems_of_sizes(const CallableHeader& content, const std::string& file);

/// A table of how a program with this header would be served on each class of device, for pointers aligned to 256
/// bytes: the entry itself, a neighbour with the problem it was tuned for and its expected loss, or nothing here.
[[nodiscard]] std::string coverage_text(const CallableHeader& content, const std::vector<Problem>& problems);

}  // namespace pgtune::tool
