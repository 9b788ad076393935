// SPDX-License-Identifier: MIT
#include "tool/pgtune/pipeline/chunk_kernel_builds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/pipeline/chunk_plan.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::tool {
namespace {

/// Of all chunk extents, the last chunks' too, each once.
std::vector<Problem> chunk_problems(const pipeline::StreamedProblem& streamed,
                                    const session::PipelineOptions& options) {
  std::vector<Problem> problems;
  for (const pipeline::Cut cut : pipeline::cuts_of(streamed, {{}, options.cut, options.memory})) {
    for (const std::int64_t extent : pipeline::chunk_extents(streamed.problem, cut)) {
      const pipeline::Candidate candidate{.cut = cut, .chunk = extent};
      for (const pipeline::Chunk& chunk : pipeline::chunks_of(streamed.problem, cut, extent)) {
        const Problem problem = chunk_problem(streamed, candidate, chunk);
        if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
      }
    }
  }
  return problems;
}

struct Wanted {
  Problem problem;
  Variant variant;
  LaunchPlan plan;
  protocol::BuildRequest request;
};

}  // namespace

std::vector<protocol::ChunkKernel> build_chunk_kernels(Context& context, db::Database& database,
                                                       const pipeline::StreamedProblem& streamed,
                                                       const DeviceInfo& device,
                                                       const session::PipelineOptions& options) {
  DatabaseStore store(database);
  std::vector<Wanted> wanted;
  for (const Problem& problem : chunk_problems(streamed, options)) {
    try {
      const space::TemplateSet templates = context.catalogue().select("", problem);
      const auto answer =
          session::stored_answer(store, {problem, templates, device, Source::kGpu, options.conditions}, false);
      if (!answer) continue;
      Wanted one{problem, answer->best().variant, {}, {}};
      const space::TemplateDefinition& definition = templates.of(one.variant);
      one.plan = value_or_throw(space::make_launch_plan(definition, one.variant, problem, device));
      one.request.id = static_cast<protocol::RequestId>(wanted.size()) + 1;
      one.request.variant = one.variant;
      one.request.source = definition.source;
      one.request.defines = value_or_throw(space::make_defines(definition, one.variant, problem, device));
      one.request.architecture = device.architecture;
      wanted.push_back(std::move(one));
    } catch (const CommandError& error) {
      // No template for such types, or a stored variant that this version has no plan for.
      context.terminal().detail(fmt::format("{}: left to cuBLASLt: {}", problem.title(), error.what()));
    }
  }
  if (wanted.empty()) return {};
  std::vector<protocol::BuildRequest> requests;
  for (const Wanted& one : wanted) requests.push_back(one.request);
  auto builds = value_or_throw(
      device::compile_all({.worker_path = context.paths().worker.string(), .cache_dir = context.paths().cache.string()},
                          std::move(requests)));
  std::vector<protocol::ChunkKernel> kernels;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (builds[i].outcome.kind != OutcomeKind::kOk) {
      context.terminal().note(fmt::format("{}: its best kernel was not built ({}), so cuBLASLt's is taken",
                                          wanted[i].problem.title(), builds[i].outcome.reason));
      continue;
    }
    kernels.push_back({wanted[i].problem, {wanted[i].variant, wanted[i].plan, builds[i].build}});
  }
  return kernels;
}

}  // namespace pgtune::tool
