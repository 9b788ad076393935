// SPDX-License-Identifier: MIT
// SIGINT and SIGTERM while a search runs: the first requests a stop, a second one ends the process immediately. One
// that comes within a fifth of a second belongs to the first.
#pragma once

#include <atomic>
#include <optional>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {

/// Handlers are installed as long as the guard lives; one at a time.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// True once a signal arrived; run_search polls it.
  [[nodiscard]] const std::atomic<bool>& flag() const;
  /// The exit code of the signal that arrived.
  [[nodiscard]] std::optional<ExitCode> exit_code() const;
};

}  // namespace pgtune::tool
