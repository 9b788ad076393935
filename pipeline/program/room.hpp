// SPDX-License-Identifier: MIT
// The commands and options that this folder adds to the program.
#pragma once

#include <memory>

#include "tool/pgtune/rooms.hpp"

namespace pgtune::tool {

[[nodiscard]] std::unique_ptr<Command> make_pipeline_command();  ///< `pgtune pipeline`
[[nodiscard]] std::unique_ptr<Command> make_pipeline_export();   ///< `pgtune export pipeline`
[[nodiscard]] RoomReport pipeline_report();  ///< `pgtune report --pipelines`, and its section of the page

}  // namespace pgtune::tool
