// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
namespace {

int badness(ExitCode code) {
  switch (code) {
    case ExitCode::kDone:
      return 0;
    case ExitCode::kNothingValid:
      return 1;
    case ExitCode::kPartial:
      return 2;
    case ExitCode::kUsage:
      return 3;
    case ExitCode::kEnvironment:
      return 4;
    case ExitCode::kDatabase:
      return 5;
    case ExitCode::kInternal:
      return 6;
    case ExitCode::kInterrupted:
    case ExitCode::kTerminated:
      return 7;
  }
  return 7;
}

}  // namespace

ExitCode worse(ExitCode a, ExitCode b) { return badness(b) > badness(a) ? b : a; }

}  // namespace pgtune::tool
