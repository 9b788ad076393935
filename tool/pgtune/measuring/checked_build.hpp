// SPDX-License-Identifier: MIT
// Builds of commands that look at kernels without a GPU: a variant's, and the operation's own.
#pragma once

#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/measuring/measuring_options.hpp"
#include "tuner/model/records.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::tool {

/// The variant's build, whose kernels take what the template passes. Throws CommandError (environment) with the reason
/// where it does not build.
[[nodiscard]] BuildInfo build_checked(const Context& context, const space::TemplateDefinition& definition,
                                      const Variant& variant, const Problem& problem, const DeviceInfo& device,
                                      const CompileLimits& limits);

/// The same of the kernels of the problem's operation: its reference and what fills its buffers. Throws CommandError
/// (usage) with what is wrong with them.
void check_reference(const Context& context, const Problem& problem, const DeviceInfo& device,
                     const CompileLimits& limits);

}  // namespace pgtune::tool
