// SPDX-License-Identifier: MIT
// What long work does at the moment, on standard error.
#pragma once

#include <optional>
#include <string>

#include "tool/pgtune/cli/terminal/terminal.hpp"

namespace pgtune::tool {

/// On a terminal a live line, which goes away with this object; else a line for each phase. Nothing where the terminal
/// is quiet.
class PhaseLine {
 public:
  explicit PhaseLine(Terminal& terminal) : terminal_(terminal) {}
  ~PhaseLine() { terminal_.hide_live(); }
  PhaseLine(const PhaseLine&) = delete;
  PhaseLine& operator=(const PhaseLine&) = delete;

  /// `phase`: a number that phases differ in.
  void update(int phase, const std::string& text);

 private:
  Terminal& terminal_;
  std::optional<int> phase_;
};

}  // namespace pgtune::tool
