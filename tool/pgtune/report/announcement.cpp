// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/announcement.hpp"

#include "tool/pgtune/cli/options/conditions_options.hpp"
#include "tool/pgtune/report/answer_facts.hpp"
#include "tool/pgtune/report/answer_text.hpp"

namespace pgtune::tool {

Announcement Announcement::under(const LockedClock& clock) const {
  Announcement out = *this;
  out.clocks = {clocks_line(choice.source, conditions)};
  if (!clock.note.empty()) out.clocks.push_back("clocks    " + clock.note);
  return out;
}

void announce(Terminal& terminal, const Announcement& announcement) {
  const DeviceChoice& choice = announcement.choice;
  if (announcement.clocks.empty()) terminal.note(clocks_line(choice.source, announcement.conditions));
  for (const std::string& line : announcement.clocks) terminal.note(line);
  warn_of_easy_data(terminal, announcement.conditions);
  for (const std::string& note : choice.notes) terminal.note(note);
  terminal.note("device    " + choice.description);
  if (choice.source == "replay" && !announcement.planning)
    terminal.note("source    replay: stored measurements, nothing is compiled or timed here");
  terminal.note(regime_line(announcement.conditions));
  for (const std::string& line : announcement.unusual) terminal.note(line);
  terminal.note("database  " + announcement.database_path);
}

void announce_versions(Terminal& terminal, const space::TemplateSet& templates) {
  std::string lines = fact("version", versions_text(templates.other_versions()));
  if (lines.empty()) return;
  lines.pop_back();  // note() ends the line
  terminal.note(lines);
}

}  // namespace pgtune::tool
