// SPDX-License-Identifier: MIT
// The guard role: locks a GPU's clocks for the parent and gives them back whatever becomes of it. Needs NVML only:
// neither a GPU context nor CUDA's driver.
#pragma once

#include "tool/worker/line_channel.hpp"
#include "tool/worker/options.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::worker {

/// Locks, answers one line, and waits for the end of input or of the parent, or a signal (parent_watch.hpp); then gives
/// the clocks back and answers a second line. Lines are replies of tuner/protocol/codec.hpp, with id 1 and the body
///   {"locked_mhz": 1485, "verified": true, "sm_mhz": 1485, "before": {"sm_mhz": 345, "applications_mhz": 1980}}
/// (fields NVML does not say are null), and with id 2 and the body {"sm_mhz": 345}; or with the error, which is
/// returned too.
[[nodiscard]] Result<void> guard_clocks(const WorkerOptions& options, LineChannel& channel);

/// Only gives the clocks back and answers as the second line above: for after a guard that was killed.
[[nodiscard]] Result<void> restore_clocks(const WorkerOptions& options, LineChannel& channel);

}  // namespace pgtune::worker
