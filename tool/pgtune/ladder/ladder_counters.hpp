// SPDX-License-Identifier: MIT
// Hardware counters of a ladder's rungs: a worker launches each once, under the profiler.
#pragma once

#include <atomic>

#include "tool/pgtune/ladder/ladder_view.hpp"

namespace pgtune::tool {

/// Fills RungResult::counters of the rungs that have a time, or LadderOutcome::counters_problem. The GPU must not be
/// held by another worker of ours, whose memory it may need.
void read_ladder_counters(const std::filesystem::path& worker, const std::atomic<bool>& stop, LadderOutcome& outcome);

}  // namespace pgtune::tool
