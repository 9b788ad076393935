// SPDX-License-Identifier: MIT
// Builds of the templates that an operation is compared with.
#pragma once

#include <functional>
#include <vector>

#include "tuner/protocol/messages.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

/// Builds a variant, and returns once it is built or cannot be. Errors end whatever it is for.
using BuildOne = std::function<Result<protocol::BuildDone>(protocol::BuildRequest)>;

/// PrepareRequest::builds for the problem on this device: of each of its operation's template baselines, which are
/// `templates.baselines()`, the variant that the operation names. One that is not legal, does not build or spills is
/// there with the reason. Errors: those of `build`.
[[nodiscard]] Result<std::vector<protocol::BaselineBuild>> build_baselines(const Problem& problem,
                                                                           const space::TemplateSet& templates,
                                                                           const DeviceInfo& device,
                                                                           const BuildOne& build);

}  // namespace pgtune::session
