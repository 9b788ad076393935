// SPDX-License-Identifier: MIT
#include "tuner/session/baseline_builds.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "tuner/session/context.hpp"
#include "tuner/session/pipeline/launchable.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::session {
namespace {

/// As much of a content hash as people compare.
constexpr std::size_t kShownHash = 8;

/// What is to be built, and how it will be launched; or, in `unavailable`, why nothing is.
struct Planned {
  protocol::BuildRequest request;
  LaunchPlan plan;
  std::string unavailable = {};
};

Planned unavailable(const std::string& why) { return {{}, {}, why}; }

Planned plan_baseline(const space::TemplateDefinition& definition, const std::string& text, const Problem& problem,
                      const DeviceInfo& device) {
  const auto variant = space::parse_variant(definition, text);
  if (!variant) return unavailable(variant.error().text());
  const auto illegal = space::why_illegal(definition, *variant, problem, device);
  if (!illegal) return unavailable(illegal.error().text());
  if (*illegal) return unavailable(**illegal);
  auto plan = space::make_launch_plan(definition, *variant, problem, device);
  if (!plan) return unavailable(plan.error().text());
  auto defines = space::make_defines(definition, *variant, problem, device);
  if (!defines) return unavailable(defines.error().text());
  return {{next_request_id(), *variant, definition.source, std::move(*defines), device.architecture}, std::move(*plan)};
}

}  // namespace

Result<std::vector<protocol::BaselineBuild>> build_baselines(const Problem& problem,
                                                             const space::TemplateSet& templates,
                                                             const DeviceInfo& device, const BuildOne& build) {
  std::vector<protocol::BaselineBuild> out;
  if (templates.baselines().empty()) return out;
  auto definition = templates.baselines().begin();
  for (const OperationBaseline& baseline : problem.operation->baselines) {
    const auto* const named = std::get_if<TemplateBaseline>(&baseline);
    if (named == nullptr || definition == templates.baselines().end()) continue;
    protocol::BaselineBuild& entry = out.emplace_back();
    entry.title = fmt::format("{} {}", definition->name, definition->content_hash.substr(0, kShownHash));
    Planned planned = plan_baseline(*definition++, named->variant, problem, device);
    entry.unavailable = std::move(planned.unavailable);
    if (!entry.unavailable.empty()) continue;
    const Variant variant = planned.request.variant;
    TRY_ASSIGN(auto done, build(std::move(planned.request)));
    if (done.outcome.kind != OutcomeKind::kOk) {
      entry.unavailable = done.outcome.reason;
    } else if (const auto reason = why_not_launchable(done.build, planned.plan, device)) {
      entry.unavailable = *reason;
    } else {
      entry.built = protocol::BuiltVariant{variant, std::move(planned.plan), std::move(done.build)};
    }
  }
  return out;
}

}  // namespace pgtune::session
