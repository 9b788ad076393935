// SPDX-License-Identifier: MIT
// pgtune search of ranges of M: planned, answered from the database, or searched.
#pragma once

#include "tool/pgtune/commands/search_task.hpp"

namespace pgtune::tool {

/// Shows every family, and stores what was measured. A total time is spent on the heaviest first: each gets the probes
/// that its share pays for, two at least, and one whose kernels do not fit in the rest is left out; the task's total is
/// then what they left by the clock, in a dry run by what is expected. Throws CommandError (also without a GPU:
/// families are not recorded), db::Error.
[[nodiscard]] ExitCode run_families(SearchTask& task, Context& context, ResultDocument& results);

}  // namespace pgtune::tool
