// SPDX-License-Identifier: MIT
// Hardware counters as a part of a measuring run.
#include <fmt/format.h>

#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/counters/counter_reading.hpp"
#include "tool/pgtune/measuring/measuring_run.hpp"
#include "tool/pgtune/measuring/stored_counters.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::tool {
namespace {

Result<protocol::BuildDone> build_one(const Context& context, const MeasuringOptions& options,
                                      protocol::BuildRequest request) {
  return device::compile_one({.worker_path = context.paths().worker.string(),
                              .cache_dir = context.paths().cache.string(),
                              .jobs = 1,
                              .build_timeout = options.compile.time,
                              .memory_limit_bytes = options.compile.memory_bytes},
                             std::move(request));
}

Result<protocol::BuiltVariant> build_variant(const session::BuildOne& build,
                                             const space::TemplateDefinition& definition, const Problem& problem,
                                             const DeviceInfo& device, const Variant& variant) {
  TRY_ASSIGN(auto plan, space::make_launch_plan(definition, variant, problem, device));
  TRY_ASSIGN(auto request, session::make_build_request(definition, variant, problem, device));
  TRY_ASSIGN(auto built, build(std::move(request)));
  if (built.outcome.kind != OutcomeKind::kOk) return fail(ErrorKind::kEnvironment, built.outcome.reason);
  return protocol::BuiltVariant{variant, std::move(plan), std::move(built.build)};
}

void take(ContenderCounters& contender, LaunchCounters read) {
  contender.missing = std::move(read.missing);
  if (contender.missing.empty()) contender.counters = combined(read.kernels);
}

}  // namespace

std::optional<CounterReport> MeasuringRun::stored_counters(const Problem& problem, const space::TemplateSet& templates,
                                                           std::vector<ContenderCounters> contenders) {
  return stored_report(store_, key_of(problem, templates), std::move(contenders));
}

CounterReport MeasuringRun::counters(const Problem& problem, const space::TemplateSet& templates,
                                     std::vector<ContenderCounters> contenders) {
  const session::BuildOne build = [&](protocol::BuildRequest wanted) {
    return build_one(shared_.context, shared_.options, std::move(wanted));
  };
  CounterRequest request{.gpu = choice_.info.uuid, .prepare = {problem, session_.conditions}, .baseline = true};
  if (const auto prepared = gpu_ ? gpu_->prepared() : std::nullopt;
      prepared && prepared->problem == problem && prepared->conditions.key() == session_.conditions.key()) {
    request.prepare = *prepared;
  } else {
    auto baselines = session::build_baselines(problem, templates, choice_.info, build);
    if (!baselines) return {.missing = baselines.error().text()};
    request.prepare.builds = std::move(*baselines);
  }
  require_gpu();
  shared_.context.terminal().note(fmt::format("{}: reading hardware counters with the profiler", name()));
  for (ContenderCounters& contender : contenders) {
    if (!contender.variant) {
      request.algorithm = contender.algorithm;
      continue;
    }
    auto built = build_variant(build, templates.of(*contender.variant), problem, choice_.info, *contender.variant);
    if (built) {
      request.variants.push_back(std::move(*built));
    } else {
      contender.missing = built.error().text();
    }
  }
  close_gpu();  // the profiled worker may need the memory
  auto readings = read_counters(shared_.context.paths().worker, request, signals().flag());
  if (!readings) return {.missing = readings.error().text()};
  const session::StoreKey key = key_of(problem, templates);
  std::size_t next = 0;
  for (ContenderCounters& contender : contenders) {
    if (!contender.missing.empty()) continue;
    take(contender, std::move(contender.variant ? readings->variants[next++] : *readings->baseline));
    if (!contender.variant && !readings->algorithm.empty()) contender.algorithm = readings->algorithm;
    if (!contender.counters) continue;
    std::variant<Variant, std::string> who = contender.algorithm;
    if (contender.variant) who = *contender.variant;
    store_.save_counters(key, who, *contender.counters);
  }
  std::string baseline = baseline_of(contenders);
  return {
      .contenders = std::move(contenders), .baseline = std::move(baseline), .ceilings = store_.ceilings(choice_.info)};
}

}  // namespace pgtune::tool
