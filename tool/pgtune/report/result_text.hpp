// SPDX-License-Identifier: MIT
// A finished search as text for people, in 80 columns.
#pragma once

#include <string>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/result_json.hpp"

namespace pgtune::tool {

/// The best five against cuBLASLt, their energy where it was measured, the verdict with what it rests on, counts, and
/// what failed by reason. Ends in a newline.
[[nodiscard]] std::string result_text(const SearchOutcome& outcome, const Terminal& terminal);

}  // namespace pgtune::tool
