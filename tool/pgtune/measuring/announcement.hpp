// SPDX-License-Identifier: MIT
// What a command that measures says first, on standard error: clocks, device, regime, database.
#pragma once

#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/measuring/clock_session.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

struct Announcement {
  const DeviceChoice& choice;
  Conditions conditions;
  std::string database_path;
  std::vector<std::string> clocks = {};   ///< empty: clocks_line() of source and conditions
  bool planning = false;                  ///< nothing will be measured, nor replayed
  std::vector<std::string> unusual = {};  ///< what is unusual about how it is measured

  /// With what locking the clock left to say.
  [[nodiscard]] Announcement under(const LockedClock& clock) const;
};

void announce(Terminal& terminal, const Announcement& announcement);
/// That a problem is replayed with other versions of templates than this build's; nothing where it is not.
void announce_versions(Terminal& terminal, const space::TemplateSet& templates);

}  // namespace pgtune::tool
