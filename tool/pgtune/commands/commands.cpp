// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/commands.hpp"

/// Every command, in the order of the help: `name` is made by make_<name>_command() of <name>_command.cpp, which needs
/// no other declaration.
// clang-format off
#define PGTUNE_COMMANDS(command) \
  command(search) \
  command(bench) \
  command(guess) \
  command(show) \
  command(report) \
  command(export) \
  command(import) \
  command(space) \
  command(inspect) \
  command(ladder) \
  command(pipeline) \
  command(simulate) \
  command(devices) \
  command(doctor) \
  command(slurm) \
  command(db) \
  command(completion) \
  command(man)
// clang-format on

namespace pgtune::tool {

#define PGTUNE_DECLARE(name) std::unique_ptr<Command> make_##name##_command();
PGTUNE_COMMANDS(PGTUNE_DECLARE)
#undef PGTUNE_DECLARE

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
#define PGTUNE_MAKE(name) commands.push_back(make_##name##_command());
  PGTUNE_COMMANDS(PGTUNE_MAKE)
#undef PGTUNE_MAKE
  return commands;
}

}  // namespace pgtune::tool
