// SPDX-License-Identifier: MIT
// What rooms that stand on the core add to the program (docs/contributing/architecture.md, "Rooms that stand on the
// core").
#pragma once

#include <memory>
#include <vector>

#include "db/upkeep/content_check.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/report/room_report.hpp"

namespace pgtune::tool {

struct Rooms {
  std::vector<std::unique_ptr<Command>> commands;  ///< of `pgtune`
  std::vector<std::unique_ptr<Command>> exports;   ///< of `pgtune export`
  std::vector<RoomReport> reports;
  db::ColumnChecks record_checks;  ///< checks of the columns of the room's tables
};

/// The additions of the rooms in this build; generated (cmake/Rooms.cmake).
[[nodiscard]] Rooms rooms();

}  // namespace pgtune::tool
