// SPDX-License-Identifier: MIT
// The commands that this folder adds to the program.
#pragma once

#include <memory>

#include "simulate/program/foreign_file.hpp"
#include "tool/pgtune/rooms.hpp"

namespace pgtune::tool {

[[nodiscard]] std::unique_ptr<Command> make_simulate_command();                  ///< `pgtune simulate`
[[nodiscard]] std::unique_ptr<Command> make_import_command();                    ///< `pgtune import`
[[nodiscard]] std::unique_ptr<Command> make_table_export(ForeignFormat format);  ///< `pgtune export t4|kernel_tuner`

}  // namespace pgtune::tool
