// SPDX-License-Identifier: MIT
// The device of a session, before anything is searched: prepared for the problem, its ceilings known.
#pragma once

#include <string>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/progress_reporter.hpp"

namespace pgtune::session {

struct Preparation {
  BaselineReport baseline;
  OtherProcesses others;  ///< on the GPU; not looked for where there are no opponents
  double time_s = 0;      ///< wall time
};

enum class Opponents { kBaseline, kNone };

/// Builds the templates among the baselines, has the device prepared for the context's problem, and saves the baseline,
/// unless there are to be no opponents; the problem then has what was counted in its data. Precondition: the store's
/// session was begun. Errors: those of the device.
[[nodiscard]] Result<Preparation> prepare(SessionContext& context, ProgressReporter& progress,
                                          Opponents opponents = Opponents::kBaseline);

/// Expected wall time of measure_ceilings(); 0 for a time budget of which it would take more than an eighth, in which a
/// session leaves it to a later one.
[[nodiscard]] double expected_ceilings_s(const Budget& budget);

/// Measures the GPU's ceilings, once for a device and its driver, and saves them. Returns what failed as notes.
[[nodiscard]] std::vector<std::string> measure_ceilings(const SessionContext& context, ProgressReporter& progress);

}  // namespace pgtune::session
