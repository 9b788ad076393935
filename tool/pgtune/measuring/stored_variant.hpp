// SPDX-License-Identifier: MIT
// Variants for commands that measure something else with them: planned and built.
#pragma once

#include <vector>

#include "tool/pgtune/cli/context.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// A variant of a problem as it is to be built and launched.
struct PlannedVariant {
  Problem problem;
  Variant variant;
  LaunchPlan plan;
  protocol::BuildRequest request;
};

/// Throws CommandError where this version has no plan for it.
[[nodiscard]] PlannedVariant plan_variant(const space::TemplateSet& templates, const Variant& variant,
                                          const Problem& problem, const DeviceInfo& device);

struct BuildResult {
  Outcome outcome;
  protocol::BuiltVariant built;  ///< where the outcome is kOk
};
/// Builds all at once, in their order. Throws CommandError where no compiler can be started.
[[nodiscard]] std::vector<BuildResult> build_planned(const Context& context,
                                                     const std::vector<PlannedVariant>& planned);

}  // namespace pgtune::tool
