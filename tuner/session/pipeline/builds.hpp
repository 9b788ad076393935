// SPDX-License-Identifier: MIT
// Builds of variants: what is asked for, and what a finished one says before it is ever launched.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/launch_plan.hpp"
#include "tuner/model/records.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

/// How the variants of a search are built.
[[nodiscard]] inline space::Edges edges_of(const SessionOptions& options) {
  return options.any_m ? space::Edges::kAlways : space::Edges::kOfProblem;
}

/// A ticket no other request of this process has: a device outlives a search, and so may a build that was abandoned.
[[nodiscard]] protocol::RequestId next_request_id();

/// The build of one variant for a problem and a device, and what its kernels will be launched with. Errors: a define or
/// a part of the plan that cannot be evaluated.
[[nodiscard]] Result<protocol::BuildRequest> make_build_request(const space::TemplateDefinition& definition,
                                                                const Variant& variant, const Problem& problem,
                                                                const DeviceInfo& device,
                                                                space::Edges edges = space::Edges::kOfProblem);
/// The same, with those kernels in modules of their own that the template builds apart: for a search, whose variants
/// share them.
[[nodiscard]] Result<protocol::BuildRequest> make_search_build(const space::TemplateDefinition& definition,
                                                               const Variant& variant, const Problem& problem,
                                                               const DeviceInfo& device, space::Edges edges);
/// That for the context's problem and device.
[[nodiscard]] Result<protocol::BuildRequest> make_build_request(const SessionContext& context, const Variant& variant);

/// A variant's plan for the context's problem and device.
[[nodiscard]] Result<LaunchPlan> make_plan(const SessionContext& context, const Variant& variant);

/// Why this build is not worth a launch: it spills, or the GPU cannot hold one CTA of it. Nothing where it may run.
/// BuildInfo has maxima over the kernels, so with several kernels only what is certain is refused.
[[nodiscard]] std::optional<std::string> why_not_launchable(const BuildInfo& build, const LaunchPlan& plan,
                                                            const DeviceInfo& device);

/// Shared memory of one CTA of the plan's largest kernel: static and dynamic bytes. With several kernels the static
/// ones, of which BuildInfo has the most, may be another kernel's than the dynamic ones: then the larger of both.
[[nodiscard]] std::int64_t smem_bytes(const BuildInfo& build, const LaunchPlan& plan);

/// The i-th of several builds; nothing: it is passed over.
using RequestOf = std::function<Result<std::optional<protocol::BuildRequest>>(std::size_t)>;
/// Takes what came of the i-th.
using WhenBuilt = std::function<void(std::size_t, protocol::BuildDone)>;

/// Makes `count` builds, as many at a time as the device has compile workers. Returns false where the stop flag was set
/// meanwhile. Precondition: nothing else in flight. Errors: those of the device and of `request_of`.
[[nodiscard]] Result<bool> build_each(device::Device& device, const std::atomic<bool>& stop, std::size_t count,
                                      const RequestOf& request_of, const WhenBuilt& when_built);

/// Builds a variant, and returns once it is built or cannot be. Errors end whatever it is for.
using BuildOne = std::function<Result<protocol::BuildDone>(protocol::BuildRequest)>;

/// PrepareRequest::builds for the problem on this device: of each of its operation's template baselines, which are
/// `templates.baselines()`, the variant that the operation names. One that is not legal, does not build or spills is
/// there with the reason. Errors: those of `build`.
[[nodiscard]] Result<std::vector<protocol::BaselineBuild>> build_baselines(const Problem& problem,
                                                                           const space::TemplateSet& templates,
                                                                           const DeviceInfo& device,
                                                                           const BuildOne& build);

/// A variant about to enter the race or the final.
struct BuiltFinalist {
  std::size_t index = 0;  ///< into the search's state
  protocol::BuiltVariant built;
};

/// Plans and builds the given variants (from the cubin cache, where they are in it: a resumed search built them long
/// ago). A variant that no longer builds, or whose machine code is quarantined by now, is left out, and the failure
/// replaces its outcome in state and store. Nothing when the stop flag was set meanwhile. Precondition: nothing in
/// flight. Errors: those of the device.
[[nodiscard]] Result<std::optional<std::vector<BuiltFinalist>>> build_finalists(
    const SessionContext& context, SearchState& state, const std::vector<std::size_t>& indices);

/// Replaces a variant's outcome by a failure found after screening, keeping its check and samples.
void record_failure(const SessionContext& context, SearchState& state, std::size_t index, const Outcome& outcome);

}  // namespace pgtune::session
