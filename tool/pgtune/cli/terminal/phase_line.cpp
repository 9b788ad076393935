// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/terminal/phase_line.hpp"

#include "tool/pgtune/cli/terminal/live_line.hpp"

namespace pgtune::tool {

void PhaseLine::update(int phase, const std::string& text) {
  if (terminal_.verbosity() == Verbosity::kQuiet) return;
  if (terminal_.error_is_terminal()) {
    terminal_.show_live({elided(text, terminal_.error_width() - 1)});
  } else if (phase != phase_) {
    terminal_.note(text);
  }
  phase_ = phase;
}

}  // namespace pgtune::tool
