// SPDX-License-Identifier: MIT
// Locks a GPU's clocks for the lifetime of an object. A child process, `pgtune-worker --role guard`, locks them and
// restores them on any exit: it waits for the end of a pipe, which release(), the destructor and the end of this
// process (SIGKILL included) close.
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
  /// Releases, and ignores errors.
  ~ClockGuard();

  /// The locked SM clock. GPUs at their power or heat limit run below it, which the measured clock shows.
  [[nodiscard]] double locked_hz() const;
  /// A note on the lock for the user (an idle GPU did not show the clock yet); empty if there is none.
  [[nodiscard]] const std::string& note() const;
  /// False once the guard process has ended for any cause, or was released: the lock is gone. Does not wait.
  [[nodiscard]] bool holds() const;

  /// Restores the clocks and waits for that, some seconds at most; returns immediately if already done. If the guard
  /// process had died, a second one restores them. Errors (environment): the cause, with the administrator's command
  /// unless the clocks are known to be unlocked. A guard that died and was replaced is an error, too; its message
  /// reports that the clocks were restored.
  [[nodiscard]] Result<void> release();

 private:
  struct Guard;
  explicit ClockGuard(std::unique_ptr<Guard> guard);

  std::unique_ptr<Guard> guard_;
};

}  // namespace pgtune::tool
