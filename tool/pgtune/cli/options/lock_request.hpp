// SPDX-License-Identifier: MIT
// What the user asked for with --lock-clocks[=MHz] or "lock_clocks" in the configuration file.
#pragma once

#include <optional>

namespace pgtune::tool {

/// A wish to lock the SM clock while measuring.
struct LockRequest {
  std::optional<int> mhz;  ///< nothing: the clock pgtune chooses (tuner/gpu/nvml/clock_lock.hpp says how)

  friend bool operator==(const LockRequest&, const LockRequest&) = default;
};

}  // namespace pgtune::tool
