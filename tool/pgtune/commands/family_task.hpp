// SPDX-License-Identifier: MIT
// pgtune search of ranges of M: planned, answered from the database, or searched.
#pragma once

#include "tool/pgtune/commands/search_task.hpp"

namespace pgtune::tool {

/// Shows every family, and stores what was measured. Throws CommandError (also without a GPU: families are not
/// recorded), db::Error.
[[nodiscard]] ExitCode run_families(const SearchTask& task, Context& context, ResultDocument& results);

}  // namespace pgtune::tool
