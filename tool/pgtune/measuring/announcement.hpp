// SPDX-License-Identifier: MIT
// What a command that measures says first, on standard error: clocks, device, regime, database.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct Announcement {
  const DeviceChoice& choice;
  const session::SessionOptions& session;       ///< its conditions with the clock that is locked
  std::string database;                         ///< the file
  std::vector<std::string> clock_notes = {};    ///< what locking them left to say
  std::vector<std::string> other_devices = {};  ///< DeviceChoice::description of those that work beside it
  bool planning = false;                        ///< nothing will be measured, nor replayed
  bool clock_unknown = false;                   ///< of a plan: it shows when it is locked
};

void announce(Terminal& terminal, const Announcement& announcement);
/// Of a problem that is replayed, what differs from what was announced for all: the GPU that it was recorded on, and
/// versions of templates that are not this build's. Nothing where nothing does.
void announce_answering(Terminal& terminal, const DeviceChoice& announced, const Answering& by);

}  // namespace pgtune::tool
