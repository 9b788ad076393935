// SPDX-License-Identifier: MIT
// What a finished build says about a variant before it is ever launched.
#pragma once

#include <optional>
#include <string>

#include "tuner/model/launch_plan.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::session {

/// Why this build is not worth a launch: it spills, or the GPU cannot hold one CTA of it. Nothing where it may run.
/// BuildInfo has maxima over the kernels, so with several kernels only what is certain is refused.
[[nodiscard]] std::optional<std::string> why_not_launchable(const BuildInfo& build, const LaunchPlan& plan,
                                                            const DeviceInfo& device);

/// Shared memory of one CTA of the plan's largest kernel: static and dynamic bytes. With several kernels the static
/// ones, of which BuildInfo has the most, may be another kernel's than the dynamic ones: then the larger of both.
[[nodiscard]] std::int64_t smem_bytes(const BuildInfo& build, const LaunchPlan& plan);

}  // namespace pgtune::session
