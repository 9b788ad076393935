// SPDX-License-Identifier: MIT
// Tables that other tuners left behind: T4 result files and Kernel Tuner's caches. They are data of strangers: nothing
// in them is executed, and whatever is in them ends in a table or a message.
#pragma once

#include <string>
#include <string_view>

#include "tool/pgtune/simulate/recorded_tables.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// The table in `text`, which is one or the other by its fields; `origin` names it. Its variants are those of one
/// template, whose parameters are the configurations'; configurations that were ruled out, did not compile, failed or
/// were wrong are failures of their kinds, and those without a time that means anything are left out. A search is told
/// nothing but the variants. Kernel Tuner: a cache that was not closed, with a comma at its end, is whole too. T4: the
/// time is the first objective's, else "time". Errors (usage): what is wrong with it.
[[nodiscard]] Result<RecordedTable> foreign_table(std::string_view text, const std::string& origin);

/// foreign_table() of a file. Throws CommandError (usage).
[[nodiscard]] RecordedTable read_foreign_table(const std::string& path);

}  // namespace pgtune::tool
