// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/announcement.hpp"

#include <fmt/format.h>

#include "tool/pgtune/cli/terminal/text_table.hpp"

namespace pgtune::tool {
namespace {

std::string clocks_line(const Conditions& conditions) {
  if (conditions.locked_sm_clock_hz > 0)
    return fmt::format("clocks    locked at {:.0f} MHz", conditions.locked_sm_clock_hz / 1e6);
  return "clocks    observed, not locked; --lock-clocks locks them (needs root)";
}

std::string regime_line(const Conditions& conditions) {
  return fmt::format("regime    {}, L2 {}, {} data (seed {})", to_string(conditions.regime), to_string(conditions.l2),
                     to_string(conditions.data), conditions.data_seed);
}

void warn_of_easy_data(Terminal& terminal, const Conditions& conditions) {
  if (!conditions.easy_data()) return;
  terminal.error(
      fmt::format("warning: with --data {} few bits toggle: the GPU draws less power and may run faster than on real "
                  "data, and a wrong result may go unnoticed. Leave --data out to rank kernels.",
                  to_string(conditions.data)));
}

}  // namespace

void announce(Terminal& terminal, const Announcement& announcement) {
  const Conditions& conditions = announcement.session.conditions;
  terminal.note(announcement.clock_unknown
                    ? "clocks    to be locked; at which clock shows then, so nothing stored is counted"
                    : clocks_line(conditions));
  for (const std::string& note : announcement.clock_notes) terminal.note("clocks    " + note);
  warn_of_easy_data(terminal, conditions);
  terminal.note("device    " + announcement.choice.description);
  for (const std::string& other : announcement.other_devices) terminal.note("device    " + other);
  terminal.note(regime_line(conditions));
  terminal.note("database  " + announcement.database);
}

}  // namespace pgtune::tool
