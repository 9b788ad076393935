// SPDX-License-Identifier: MIT
// Searches on machines without a GPU: what recordings answer.
#pragma once

#include "tool/pgtune/commands/search_task.hpp"

namespace pgtune::tool {

/// Prints the recorded answer for each problem, and stores it in the user's database as recorded. Where there is none
/// it names what the recordings hold instead, and what `pgtune guess` takes unless recordings were asked for: for one
/// problem as a CommandError (environment), for several it goes on and ends with kEnvironment. `choice`: of recordings.
/// Throws CommandError, db::Error.
[[nodiscard]] ExitCode print_recorded(Context& context, const SearchTask& task, const DeviceChoice& choice,
                                      ResultDocument& results);

}  // namespace pgtune::tool
