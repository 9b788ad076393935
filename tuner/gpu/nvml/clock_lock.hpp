// SPDX-License-Identifier: MIT
// Locks the SM clock of a GPU. This is the only setting that pgtune changes, and only on request. A lock outlives its
// process, so a caller of lock() must ensure that restore() follows (tool/worker/roles.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::gpu {

/// NVML's values for a GPU's clocks; empty if unavailable.
struct ClockState {
  std::optional<int> sm_mhz;            ///< now
  std::optional<int> applications_mhz;  ///< the older way to set clocks, which a lock overrides
};

struct LockedClock {
  int mhz = 0;
  /// Whether the SM clock was read back as `mhz`, within one step. An idle or throttled GPU may run below the lock;
  /// then only the clock measured under load proves the lock.
  bool verified = false;
  ClockState before, after;
};

/// Waits for this time; false to stop waiting.
using Pause = std::function<bool(std::chrono::milliseconds)>;

class ClockLock {
 public:
  explicit ClockLock(NvmlDevice device) : device_(std::move(device)) {}

  /// The SM clocks at which the GPU can be locked, in MHz, ascending, with its fastest memory clock; empty if NVML has
  /// no list.
  [[nodiscard]] std::vector<int> supported_mhz() const;

  /// The clock to lock at: `wanted_mhz`, or else the highest supported one that is at most 75 % of the maximum. A lock
  /// needs a clock that the GPU can hold, and large tensor-core GEMMs bring an H200 to its power limit at 76 % of its
  /// maximum. Errors: usage if the wanted clock is not supported, with the nearest ones; environment if NVML lists no
  /// clocks.
  [[nodiscard]] Result<int> choose(std::optional<int> wanted_mhz) const;

  [[nodiscard]] ClockState state() const;

  /// Locks and verifies, which takes up to 2 s. Restores the clocks on failure. Errors (environment): no permission,
  /// with the administrator's command; a GPU without this function; a lock that has no effect.
  [[nodiscard]] Result<LockedClock> lock(int mhz, const Pause& pause) const;

  /// Unlocks the clocks, also if nothing was locked. NVML cannot tell whether an administrator had locked them before;
  /// such a lock is lost. Retries for a second if NVML fails. Errors (environment): the clocks may still be locked,
  /// with the administrator's command.
  [[nodiscard]] Result<void> restore() const;

 private:
  [[nodiscard]] std::optional<int> max_mhz() const;
  [[nodiscard]] int step_mhz(int mhz) const;
  [[nodiscard]] tl::unexpected<Error> lock_failure(int status, int mhz) const;

  NvmlDevice device_;
};

/// "sudo nvidia-smi -i GPU-... -lgc 1485,1485" and "sudo nvidia-smi -i GPU-... -rgc".
[[nodiscard]] std::string lock_command(const std::string& uuid, int mhz);
[[nodiscard]] std::string restore_command(const std::string& uuid);

}  // namespace pgtune::gpu
