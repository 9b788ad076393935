// SPDX-License-Identifier: MIT
// A finished search as text in 80 columns.
#pragma once

#include <string>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/report/result_json.hpp"

namespace pgtune::tool {

/// The answer in at most fifteen lines: verdict, time, winner, cuBLASLt, conditions, and what to do next. Where the
/// terminal is verbose, below it the best five, their energy, what the verdict rests on, counts, and what failed by
/// reason. Ends in a newline.
[[nodiscard]] std::string result_text(const SearchOutcome& outcome, const Terminal& terminal);

}  // namespace pgtune::tool
