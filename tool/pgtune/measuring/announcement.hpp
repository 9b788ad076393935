// SPDX-License-Identifier: MIT
// What a command that measures says first, on standard error: clocks, device, regime, database.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

struct Announcement {
  const DeviceChoice& choice;
  const session::SessionOptions& session;       ///< its conditions with the clock that is locked
  std::string database;                         ///< the file
  std::vector<std::string> clock_notes = {};    ///< what locking them left to say
  std::vector<std::string> other_devices = {};  ///< DeviceChoice::description of those that work beside it
  bool clock_unknown = false;                   ///< of a plan: it shows when it is locked
};

void announce(Terminal& terminal, const Announcement& announcement);

}  // namespace pgtune::tool
