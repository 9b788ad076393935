// SPDX-License-Identifier: MIT
// The pgtune executable.
#include <csignal>

#include "tool/pgtune/program.hpp"
#include "tool/pgtune/rooms.hpp"

int main(int argc, char** argv) {
  // A closed reader or worker shows as a failed write, which is handled there.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a write beyond the limit on file sizes (ulimit -f).
  std::signal(SIGXFSZ, SIG_IGN);
  return pgtune::tool::run_command_line(argc, argv, pgtune::tool::rooms());
}
