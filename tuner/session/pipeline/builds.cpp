// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/builds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <utility>
#include <variant>

#include "tuner/model/occupancy.hpp"
#include "tuner/session/pipeline/quarantine.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::session {
namespace {

std::int64_t dynamic_smem_bytes(const LaunchPlan& plan) {
  std::int64_t largest = 0;
  for (const KernelLaunch& kernel : plan.kernels) largest = std::max(largest, kernel.dynamic_smem_bytes);
  return largest;
}

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
  auto request = make_build_request(definition, *variant, problem, device);
  if (!request) return unavailable(request.error().text());
  return {std::move(*request), std::move(*plan)};
}

}  // namespace

protocol::RequestId next_request_id() {
  static std::atomic<protocol::RequestId> last{0};
  return ++last;
}

Result<protocol::BuildRequest> make_build_request(const space::TemplateDefinition& definition, const Variant& variant,
                                                  const Problem& problem, const DeviceInfo& device,
                                                  space::Edges edges) {
  TRY_ASSIGN(auto defines, space::make_defines(definition, variant, problem, device, edges));
  TRY_ASSIGN(const auto plan, space::make_launch_plan(definition, variant, problem, device));
  return protocol::BuildRequest{next_request_id(),   variant,           definition.source, std::move(defines),
                                device.architecture, kernel_calls(plan)};
}

Result<protocol::BuildRequest> make_search_build(const space::TemplateDefinition& definition, const Variant& variant,
                                                 const Problem& problem, const DeviceInfo& device, space::Edges edges) {
  TRY_ASSIGN(auto request, make_build_request(definition, variant, problem, device, edges));
  request.modules = space::separate_modules(definition, request.calls, request.defines);
  return request;
}

Result<protocol::BuildRequest> make_build_request(const SessionContext& context, const Variant& variant) {
  return make_search_build(context.templates.of(variant), variant, context.problem, context.device.info(),
                           edges_of(context.options));
}

Result<LaunchPlan> make_plan(const SessionContext& context, const Variant& variant) {
  return space::make_launch_plan(context.templates.of(variant), variant, context.problem, context.device.info());
}

std::int64_t smem_bytes(const BuildInfo& build, const LaunchPlan& plan) {
  const std::int64_t dynamic = dynamic_smem_bytes(plan);
  return plan.kernels.size() == 1 ? build.static_smem_bytes + dynamic : std::max(build.static_smem_bytes, dynamic);
}

std::optional<std::string> why_not_launchable(const BuildInfo& build, const LaunchPlan& plan,
                                              const DeviceInfo& device) {
  if (build.spill_bytes > 0) return fmt::format("spills {} bytes per thread", build.spill_bytes);
  const std::int64_t smem = smem_bytes(build, plan);
  if (smem > device.smem_per_block_bytes) {
    return fmt::format("needs {} bytes of shared memory per block, the GPU has {}", smem, device.smem_per_block_bytes);
  }
  if (plan.kernels.size() > 1) return std::nullopt;
  const std::int64_t threads = plan.kernels.front().block.count();
  const Occupancy fit = occupancy(device, build.registers, smem, threads);
  const KernelLaunch& kernel = plan.kernels.front();
  const std::int64_t at_a_time = std::int64_t{fit.ctas_per_sm} * device.sm_count;
  if (fit.ctas_per_sm > 0 && kernel.co_resident && kernel.grid.count() > at_a_time) {
    return fmt::format(
        "kernel '{}' is co-resident with {} CTAs, and the GPU runs {} of them at a time ({} an SM, limited by {})",
        kernel.symbol, kernel.grid.count(), at_a_time, fit.ctas_per_sm, fit.limiter);
  }
  if (fit.ctas_per_sm > 0) return std::nullopt;
  return fmt::format(
      "one sample does not fit on an SM, limited by {}: {} threads with {} registers each, {} bytes of "
      "shared memory",
      fit.limiter, threads, build.registers, smem);
}

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

void record_failure(const SessionContext& context, SearchState& state, std::size_t index, const Outcome& outcome) {
  StoredTrial trial = state.trial(index);
  trial.report.outcome = outcome;
  if (context.quarantine != nullptr)
    context.quarantine->note(context.problem, state.variant(index), trial.build, outcome);
  context.store.save_trial(state.variant(index), trial.build, trial.report);
  state.record(index, std::move(trial.build), std::move(trial.report));
}

Result<bool> build_each(device::Device& device, const std::atomic<bool>& stop, std::size_t count,
                        const RequestOf& request_of, const WhenBuilt& when_built) {
  constexpr std::chrono::milliseconds kStopPoll{100};
  const std::size_t slots = std::max<std::size_t>(device.build_slots(), 1);
  std::map<protocol::RequestId, std::size_t> building;
  std::size_t next = 0;
  while (next < count || !building.empty()) {
    if (stop) return false;
    for (; next < count && building.size() < slots; ++next) {
      TRY_ASSIGN(auto request, request_of(next));
      if (!request) continue;
      building.emplace(request->id, next);
      device.submit_build(std::move(*request));
    }
    if (building.empty()) break;
    TRY_ASSIGN(auto events, device.wait(kStopPoll));
    for (protocol::Event& event : events) {
      auto* const done = std::get_if<protocol::BuildDone>(&event);
      const auto found = done == nullptr ? building.end() : building.find(done->id);
      if (found == building.end()) continue;
      const std::size_t number = found->second;
      building.erase(found);
      when_built(number, std::move(*done));
    }
  }
  return true;
}

Result<std::optional<std::vector<BuiltFinalist>>> build_finalists(const SessionContext& context, SearchState& state,
                                                                  const std::vector<std::size_t>& indices) {
  std::vector<std::optional<BuiltFinalist>> built(indices.size());
  const auto request_of = [&](std::size_t place) -> Result<std::optional<protocol::BuildRequest>> {
    const Variant& variant = state.variant(indices[place]);
    TRY_ASSIGN(auto plan, make_plan(context, variant));
    built[place] = BuiltFinalist{indices[place], {variant, std::move(plan), {}}};
    return make_build_request(context, variant);
  };
  const auto when_built = [&](std::size_t place, protocol::BuildDone done) {
    Outcome outcome = std::move(done.outcome);
    if (outcome.kind == OutcomeKind::kOk && context.quarantine != nullptr)
      outcome = context.quarantine->of_run(done.build).value_or(std::move(outcome));
    if (outcome.kind == OutcomeKind::kOk) {
      built[place]->built.build = std::move(done.build);
    } else {
      built[place].reset();
      record_failure(context, state, indices[place], outcome);
    }
  };
  TRY_ASSIGN(const bool all, build_each(context.device, context.stop, indices.size(), request_of, when_built));
  if (!all) return std::nullopt;
  std::vector<BuiltFinalist> finalists;
  for (auto& finalist : built) {
    if (finalist) finalists.push_back(std::move(*finalist));
  }
  return finalists;
}

}  // namespace pgtune::session
