// SPDX-License-Identifier: MIT
// How much of a program's GEMM time was served, and why the rest was not.
#pragma once

#include <string>
#include <vector>

#include "preload/program/ledgers.hpp"

namespace pgtune::tool {

/// Whether a check found a wrong result.
[[nodiscard]] bool any_wrong(const RecordedGemms& recorded);
/// Lines for people. `tf32`: see preload::arithmetic_of().
[[nodiscard]] std::vector<std::string> serve_report(const RecordedGemms& recorded, bool tf32);
/// What the program may have computed that was not recorded, as such lines.
[[nodiscard]] std::vector<std::string> unseen_report(const RecordedGemms& recorded);

}  // namespace pgtune::tool
