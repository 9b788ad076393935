// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/commands.hpp"

namespace pgtune::tool {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_search_command());
  commands.push_back(make_bench_command());
  commands.push_back(make_show_command());
  commands.push_back(make_report_command());
  commands.push_back(make_export_command());
  commands.push_back(make_space_command());
  commands.push_back(make_inspect_command());
  commands.push_back(make_ladder_command());
  commands.push_back(make_devices_command());
  commands.push_back(make_doctor_command());
  commands.push_back(make_db_command());
  commands.push_back(make_completion_command());
  return commands;
}

}  // namespace pgtune::tool
