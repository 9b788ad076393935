// SPDX-License-Identifier: MIT
// A command's measuring with the clocks locked, where the user asked for that.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/cli/exit_code.hpp"
#include "tool/pgtune/cli/user_config.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"

namespace pgtune::tool {

struct LockedClock {
  double hz = 0;     ///< of the SMs; 0: nothing is locked
  std::string note;  ///< what the user should know about the lock; empty where nothing
  /// Throws CommandError (environment) where the lock is gone already: what is measured from here on is not locked.
  std::function<void()> check = [] {};
};

/// Calls `work` with the clock that is locked; it stays free where `request` is empty. The clocks are given back before
/// this returns or throws; where that failed the user is told and the exit code is no better than kEnvironment. Throws
/// CommandError (environment, usage) where they cannot be locked, and what `work` throws.
[[nodiscard]] ExitCode with_clocks(Context& context, const DeviceChoice& choice,
                                   const std::optional<LockRequest>& request,
                                   const std::function<ExitCode(const LockedClock&)>& work);

}  // namespace pgtune::tool
