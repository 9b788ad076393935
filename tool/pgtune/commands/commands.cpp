// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/commands.hpp"

#include <iterator>
#include <utility>

/// The core's commands, in the order of the help: make_<name>_command() of <name>_command.cpp makes `name` and needs no
/// other declaration.
// clang-format off
#define PGTUNE_MEASURING_COMMANDS(command) \
  command(search) \
  command(bench) \
  command(guess) \
  command(show)
#define PGTUNE_OTHER_COMMANDS(command) \
  command(shapes) \
  command(space) \
  command(inspect) \
  command(devices) \
  command(doctor) \
  command(slurm) \
  command(db) \
  command(completion) \
  command(man)
// clang-format on

namespace pgtune::tool {

#define PGTUNE_DECLARE(name) std::unique_ptr<Command> make_##name##_command();
PGTUNE_MEASURING_COMMANDS(PGTUNE_DECLARE)
PGTUNE_OTHER_COMMANDS(PGTUNE_DECLARE)
#undef PGTUNE_DECLARE
std::unique_ptr<Command> make_report_command(std::vector<RoomReport> reports);
std::unique_ptr<Command> make_export_command(std::vector<std::unique_ptr<Command>> forms);

std::vector<std::unique_ptr<Command>> make_commands(Rooms& rooms) {
  std::vector<std::unique_ptr<Command>> commands;
#define PGTUNE_MAKE(name) commands.push_back(make_##name##_command());
  PGTUNE_MEASURING_COMMANDS(PGTUNE_MAKE)
  commands.push_back(make_report_command(std::move(rooms.reports)));
  commands.push_back(make_export_command(std::move(rooms.exports)));
  std::move(rooms.commands.begin(), rooms.commands.end(), std::back_inserter(commands));
  PGTUNE_OTHER_COMMANDS(PGTUNE_MAKE)
#undef PGTUNE_MAKE
  return commands;
}

}  // namespace pgtune::tool
