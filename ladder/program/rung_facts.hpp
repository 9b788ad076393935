// SPDX-License-Identifier: MIT
// The compiler's results for a ladder's rungs, and each rung's hardware counters: a worker launches it once, under the
// profiler.
#pragma once

#include <atomic>

#include "ladder/program/ladder_view.hpp"
#include "tuner/device/compile_pool.hpp"

namespace pgtune::tool {

/// Stores a rung's build. Precondition: the rung has a variant of `templates`. Throws CommandError (usage) if its
/// launch plan cannot be made.
void take_build(RungResult& rung, BuildInfo info, const space::TemplateSet& templates, const Problem& problem,
                const DeviceInfo& device);

/// Builds every rung that has a variant. One that does not build has RungResult::failure. Throws CommandError: a define
/// that cannot be evaluated (usage), compile workers that cannot work (environment).
void build_rungs(LadderOutcome& outcome, const space::TemplateSet& templates, device::CompilePool::Options options);

/// Fills RungBuild::code and loop of the built rungs, or LadderOutcome::sass_problem.
void read_machine_code(LadderOutcome& outcome);

/// Fills RungResult::counters of the rungs with a time, or LadderOutcome::counters_problem. Precondition: no other
/// worker of this process holds the GPU, as its memory may be needed.
void read_ladder_counters(const std::filesystem::path& worker, const std::atomic<bool>& stop, LadderOutcome& outcome);

}  // namespace pgtune::tool
