// SPDX-License-Identifier: MIT
// How pgtune ends: the process's exit codes, part of its contract with scripts.
#pragma once

#include "tuner/util/result.hpp"

namespace pgtune::tool {

enum class ExitCode : int {
  kDone = 0,
  kNothingValid = 1,  ///< finished, but no variant was valid
  kUsage = 2,
  kEnvironment = 3,  ///< no GPU, toolkit, driver, worker or recording
  kDatabase = 4,
  kPartial = 5,  ///< stopped early, unasked, with a partial result; reaching --budget is kDone
  kInternal = 70,
  kInterrupted = 130,  ///< SIGINT
  kTerminated = 143,   ///< SIGTERM
};

/// The one of two parts' ends that the whole ends with: a signal before what is wrong with the program, the database,
/// the environment, the command line, a partial result, nothing valid, and success.
[[nodiscard]] ExitCode worse(ExitCode a, ExitCode b);

[[nodiscard]] constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return ExitCode::kUsage;
    case ErrorKind::kEnvironment:
      return ExitCode::kEnvironment;
    case ErrorKind::kDatabase:
      return ExitCode::kDatabase;
    case ErrorKind::kInternal:
      return ExitCode::kInternal;
  }
  return ExitCode::kInternal;
}

}  // namespace pgtune::tool
