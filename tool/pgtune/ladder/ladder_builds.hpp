// SPDX-License-Identifier: MIT
// What the compiler made of a ladder's rungs.
#pragma once

#include "tool/pgtune/ladder/ladder_view.hpp"
#include "tuner/device/compile_pool.hpp"

namespace pgtune::tool {

/// Notes a rung's build. Precondition: the rung has a variant of `templates`. Throws CommandError (usage): a plan that
/// cannot be made.
void take_build(RungResult& rung, BuildInfo info, const space::TemplateSet& templates, const Problem& problem,
                const DeviceInfo& device);

/// Builds every rung that has a variant. One that does not build has RungResult::failure. Throws CommandError: a define
/// that cannot be evaluated (usage), compile workers that cannot work (environment).
void build_rungs(LadderOutcome& outcome, const space::TemplateSet& templates, device::CompilePool::Options options);

/// Fills RungBuild::code and loop of the rungs that are built, or LadderOutcome::sass_problem.
void read_machine_code(LadderOutcome& outcome);

}  // namespace pgtune::tool
