// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/stored_variant.hpp"

#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::tool {

PlannedVariant plan_variant(const space::TemplateSet& templates, const Variant& variant, const Problem& problem,
                            const DeviceInfo& device) {
  const space::TemplateDefinition& definition = templates.of(variant);
  PlannedVariant out{problem, variant, {}, {}};
  out.plan = value_or_throw(space::make_launch_plan(definition, variant, problem, device));
  out.request.variant = variant;
  out.request.source = definition.source;
  out.request.defines = value_or_throw(space::make_defines(definition, variant, problem, device));
  out.request.architecture = device.architecture;
  return out;
}

std::vector<BuildResult> build_planned(const Context& context, const std::vector<PlannedVariant>& planned) {
  std::vector<BuildResult> out;
  if (planned.empty()) return out;
  std::vector<protocol::BuildRequest> requests;
  for (const PlannedVariant& one : planned) {
    requests.push_back(one.request);
    requests.back().id = static_cast<protocol::RequestId>(requests.size());
  }
  auto builds = value_or_throw(
      device::compile_all({.worker_path = context.paths().worker.string(), .cache_dir = context.paths().cache.string()},
                          std::move(requests)));
  for (std::size_t i = 0; i < planned.size(); ++i)
    out.push_back({builds[i].outcome, {planned[i].variant, planned[i].plan, std::move(builds[i].build)}});
  return out;
}

}  // namespace pgtune::tool
