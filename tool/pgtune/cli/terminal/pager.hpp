// SPDX-License-Identifier: MIT
// Standard output through a pager, where it is a terminal.
#pragma once

#include <sys/types.h>

#include "tool/pgtune/cli/terminal/terminal.hpp"

namespace pgtune::tool {

/// As long as it lives, what goes to standard output goes to $PAGER (less where that is not set; with LESS=FRX where
/// that is not: what fits on the screen is printed as ever, and colours stay). Its end waits for the reader. Does
/// nothing where standard output is no terminal, PAGER is empty or "cat", or no pager can be started. Ctrl-C is the
/// pager's meanwhile. One at a time.
class Pager {
 public:
  explicit Pager(const Terminal& terminal);
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  ~Pager();

 private:
  pid_t pager_ = 0;
  int terminal_fd_ = -1;  ///< standard output as it was
};

}  // namespace pgtune::tool
