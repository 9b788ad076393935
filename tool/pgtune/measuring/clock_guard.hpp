// SPDX-License-Identifier: MIT
// A GPU's clocks locked for as long as an object lives. A child process, `pgtune-worker --role guard`, locks them and
// gives them back whatever becomes of this process: it waits for the end of a pipe, which comes with release(), with
// this object's end and with the end of this process, SIGKILL included.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tuner/util/result.hpp"

namespace pgtune::tool {

class ClockGuard {
 public:
  /// Locks the SM clock of GPU `uuid` ("GPU-...") at `mhz`, or at the clock the worker chooses for it. Waits for the
  /// lock to be verified, some seconds at most. Errors (environment): no permission, with the administrator's command;
  /// a GPU that has no clocks to lock; no NVML; a worker that does not start. (usage): a clock this GPU does not have,
  /// with the nearest ones.
  [[nodiscard]] static Result<ClockGuard> lock(const std::string& worker_path, const std::string& uuid,
                                               std::optional<int> mhz);

  ClockGuard(ClockGuard&&) noexcept;
  ClockGuard& operator=(ClockGuard&&) noexcept;
  /// Releases; what release() would have said is lost.
  ~ClockGuard();

  /// The SM clock that is locked. GPUs at their power or heat limit run below it: what was measured tells.
  [[nodiscard]] double locked_hz() const;
  /// What the user should know about the lock (an idle GPU did not show the clock yet); empty where nothing.
  [[nodiscard]] const std::string& note() const;
  /// False once the guard process has ended, by whatever cause, or was released: the lock is gone. Does not wait.
  [[nodiscard]] bool holds() const;

  /// Gives the clocks back and waits for it, some seconds at most; at once where that was done before. When the guard
  /// process had died, a second one restores. Errors (environment): what went wrong, and the administrator's command
  /// where the clocks are not known to be free again; a guard that died but was replaced is such an error too, whose
  /// message says that the clocks were restored.
  [[nodiscard]] Result<void> release();

 private:
  struct Guard;
  explicit ClockGuard(std::unique_ptr<Guard> guard);

  std::unique_ptr<Guard> guard_;
};

}  // namespace pgtune::tool
