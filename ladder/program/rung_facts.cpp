// SPDX-License-Identifier: MIT
#include "ladder/program/rung_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/counters/counter_reading.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::tool {

void take_build(RungResult& rung, BuildInfo info, const space::TemplateSet& templates, const Problem& problem,
                const DeviceInfo& device) {
  const Variant& variant = *rung.planned.variant;
  RungBuild build;
  build.info = std::move(info);
  build.plan = value_or_throw(space::make_launch_plan(templates.of(variant), variant, problem, device));
  const KernelLaunch& kernel = main_kernel(build.plan);
  build.smem_bytes = session::smem_bytes(build.info, build.plan);
  build.occupancy = occupancy(device, build.info.registers, build.smem_bytes, kernel.block.count());
  rung.build = std::move(build);
}

void build_rungs(LadderOutcome& outcome, const space::TemplateSet& templates, device::CompilePool::Options options) {
  std::vector<protocol::BuildRequest> requests;
  std::vector<RungResult*> rungs;
  for (RungResult& rung : outcome.rungs) {
    if (!rung.planned.variant) continue;
    const Variant& variant = *rung.planned.variant;
    const space::TemplateDefinition& definition = templates.of(variant);
    requests.push_back(
        value_or_throw(session::make_build_request(definition, variant, outcome.problem, outcome.device)));
    rungs.push_back(&rung);
  }
  auto builds = value_or_throw(device::compile_all(std::move(options), std::move(requests)));
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Outcome& fate = builds[i].outcome;
    if (fate.kind != OutcomeKind::kOk) {
      rungs[i]->failure = fmt::format("{}: {}", to_string(fate.kind), fate.reason);
    } else {
      take_build(*rungs[i], std::move(builds[i].build), templates, outcome.problem, outcome.device);
    }
  }
}

void read_machine_code(LadderOutcome& outcome) {
  const auto disassembler = find_disassembler();
  if (!disassembler) {
    outcome.sass_problem = disassembler.error().text();
    return;
  }
  std::vector<std::pair<RungBuild*, std::future<Result<std::string>>>> texts;
  for (RungResult& rung : outcome.rungs) {
    if (rung.build)
      texts.emplace_back(&*rung.build,
                         std::async(std::launch::async, disassemble, *disassembler, rung.build->info.cubin_path));
  }
  for (auto& [build, pending] : texts) {
    const auto text = pending.get();
    if (!text) {
      outcome.sass_problem = text.error().text();
      continue;
    }
    build->code = count_instructions(*text);
    build->loop = main_loop(*text);
  }
}

void read_ladder_counters(const std::filesystem::path& worker, const std::atomic<bool>& stop, LadderOutcome& outcome) {
  CounterRequest request{.gpu = outcome.device.uuid, .prepare = {outcome.problem, outcome.conditions}};
  std::vector<RungResult*> rungs;
  for (RungResult& rung : outcome.rungs) {
    // A rung that was right and fast enough to be timed can safely be launched again.
    if (!rung.measured || !rung.build) continue;
    rungs.push_back(&rung);
    request.variants.push_back({*rung.planned.variant, rung.build->plan, rung.build->info});
  }
  if (rungs.empty()) {
    outcome.counters_problem = "no rung could be measured";
    return;
  }
  auto readings = read_counters(worker, request, stop);
  if (!readings) {
    outcome.counters_problem = readings.error().text();
    return;
  }
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    LaunchCounters& read = readings->variants[i];
    if (!read.missing.empty()) {
      if (!outcome.counters_problem)
        outcome.counters_problem = fmt::format("rung '{}': {}", rungs[i]->planned.rung.name, read.missing);
      continue;
    }
    rungs[i]->counters = *std::max_element(read.kernels.begin(), read.kernels.end(),
                                           [](const auto& a, const auto& b) { return a.duration_s < b.duration_s; });
  }
}

}  // namespace pgtune::tool
