// SPDX-License-Identifier: MIT
// Locking the SM clock of a GPU: the one place where pgtune changes a setting, and only when the user asks for it. A
// lock outlives the process that made it; who calls lock() must see to it that restore() follows
// (tool/worker/roles.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::gpu {

/// What NVML says of a GPU's clocks; empty where it says nothing.
struct ClockState {
  std::optional<int> sm_mhz;            ///< now
  std::optional<int> applications_mhz;  ///< the older way to set clocks, which a lock overrides
};

struct LockedClock {
  int mhz = 0;
  /// The SM clock was read back as `mhz`, give or take one step. An idle or throttled GPU may run below the lock, and
  /// then the clock measured under load is the proof.
  bool verified = false;
  ClockState before, after;
};

/// Waits that long; false where there is no reason to wait on.
using Pause = std::function<bool(std::chrono::milliseconds)>;

class ClockLock {
 public:
  explicit ClockLock(NvmlDevice device) : device_(std::move(device)) {}

  /// The SM clocks the GPU can be locked at, in MHz, ascending, with its fastest memory clock; empty where NVML has no
  /// list.
  [[nodiscard]] std::vector<int> supported_mhz() const;

  /// The clock to lock at: `wanted_mhz`, or else the highest supported one that is at most 75 % of the maximum. The
  /// point of a lock is a clock the GPU can hold, and large tensor-core GEMMs pull an H200 down to its power limit at
  /// 76 % of its maximum. Errors: usage where the wanted clock is not supported, with the nearest ones; environment
  /// where NVML names no clocks to choose from.
  [[nodiscard]] Result<int> choose(std::optional<int> wanted_mhz) const;

  [[nodiscard]] ClockState state() const;

  /// Locks and verifies, which takes up to 2 s. Undoes its own work where it fails. Errors (environment): no
  /// permission, with the administrator's command; a GPU without this function; a lock that has no effect.
  [[nodiscard]] Result<LockedClock> lock(int mhz, const Pause& pause) const;

  /// Frees the clocks, also where nothing was locked. NVML does not tell whether an administrator had locked them
  /// before: that lock is gone then. Tries again for a second where NVML fails. Errors (environment): the clocks may
  /// still be locked, with the administrator's command.
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
