// SPDX-License-Identifier: MIT
// Several devices at work side by side, each in a thread of its own and with its own session, over one list of
// problems.
#pragma once

#include <memory>
#include <vector>

#include "tool/pgtune/measuring/measuring_run.hpp"

namespace pgtune::tool {

/// Has each problem measured by whichever device is free, the longest expected first, until a signal comes; those
/// that `begun` names after all others. Results are shown in the order of the problems. A problem on which a device
/// fails goes to another one, the reason is told; a device that fails on two in a row gets no more (handout.hpp). What
/// nobody could measure is told at the end, noted in `results`, and makes the end kEnvironment. A usage error is the
/// problem's alone. Throws what else `work` throws, once all devices have stopped.
[[nodiscard]] ExitCode measure_side_by_side(const std::vector<std::unique_ptr<MeasuringRun>>& devices,
                                            const std::vector<Problem>& problems, const std::vector<bool>& begun,
                                            Terminal& terminal, ResultDocument& results, const Work& work);

}  // namespace pgtune::tool
