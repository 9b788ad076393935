// SPDX-License-Identifier: MIT
// A finished search as text in 80 columns.
#pragma once

#include <string>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/result_json.hpp"

namespace pgtune::tool {

/// The best five against cuBLASLt, their energy if measured, the verdict with its basis, counts, and failures by
/// reason. Ends in a newline.
[[nodiscard]] std::string result_text(const SearchOutcome& outcome, const Terminal& terminal);

}  // namespace pgtune::tool
