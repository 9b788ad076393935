// SPDX-License-Identifier: MIT
#include "pipeline/program/chunk_kernel_builds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pipeline/plan/chunk_plan.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/util/hash_text.hpp"

namespace pgtune::tool {
namespace {

/// The problems of all chunk extents, including the last chunks', each once.
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

std::optional<ChosenKernel> choose_kernel(Context& context, DatabaseStore& store, const Problem& problem,
                                          const DeviceInfo& device, const Conditions& conditions, KernelChoice choice,
                                          const KernelGuess& guess) {
  const space::TemplateSet templates = context.catalogue().select("", problem);
  const auto chosen = [&](const Variant& variant, bool guessed) {
    const space::TemplateDefinition& definition = templates.of(variant);
    ChosenKernel out{.problem = problem, .guessed = guessed, .template_hash = definition.content_hash};
    out.plan = value_or_throw(space::make_launch_plan(definition, variant, problem, device));
    out.request = value_or_throw(session::make_build_request(definition, variant, problem, device));
    return out;
  };
  if (const auto answer = session::stored_answer(store, {problem, templates, device, conditions}, false))
    return chosen(answer->best().variant, false);
  const auto guessed = choice == KernelChoice::kGuess ? guess(problem, templates, device) : std::nullopt;
  if (!guessed) return std::nullopt;
  return chosen(*guessed, true);
}

constexpr EnumNames<KernelChoice, 3> kKernelChoices{
    {{KernelChoice::kGuess, "guess"}, {KernelChoice::kStored, "stored"}, {KernelChoice::kCublasLt, "cublaslt"}}};

}  // namespace

EnumTable<KernelChoice> enum_table(KernelChoice /*choice*/) { return kKernelChoices; }

std::vector<ChosenKernel> choose_chunk_kernels(Context& context, db::Database& database,
                                               const pipeline::StreamedProblem& streamed, const DeviceInfo& device,
                                               const session::PipelineOptions& options, KernelChoice choice,
                                               const KernelGuess& guess) {
  std::vector<ChosenKernel> kernels;
  if (choice == KernelChoice::kCublasLt) return kernels;
  DatabaseStore store(database);
  for (const Problem& problem : chunk_problems(streamed, options)) {
    try {
      if (auto chosen = choose_kernel(context, store, problem, device, options.conditions, choice, guess))
        kernels.push_back(std::move(*chosen));
    } catch (const CommandError& error) {
      // No template for such types, or a stored variant that this version has no plan for.
      context.terminal().detail(fmt::format("{}: left to cuBLASLt: {}", problem.title(), error.what()));
    }
  }
  return kernels;
}

std::string kernels_text(const std::vector<ChosenKernel>& kernels) {
  std::string text;
  for (const ChosenKernel& kernel : kernels)
    text += fmt::format("{}\n{}\n{}\n{}\n", kernel.problem.key(), kernel.request.variant.id(), kernel.template_hash,
                        kernel.guessed);
  return text.empty() ? text : hash_text(text);
}

std::vector<protocol::ChunkKernel> build_chunk_kernels(Context& context, std::vector<ChosenKernel> kernels) {
  if (kernels.empty()) return {};
  const auto guesses =
      std::count_if(kernels.begin(), kernels.end(), [](const ChosenKernel& one) { return one.guessed; });
  context.terminal().note(fmt::format("kernels   for {} sizes of chunks, {} of them guessed", kernels.size(), guesses));
  std::vector<protocol::BuildRequest> requests;
  for (const ChosenKernel& one : kernels) requests.push_back(one.request);
  auto builds = value_or_throw(
      device::compile_all({.worker_path = context.paths().worker.string(), .cache_dir = context.paths().cache.string()},
                          std::move(requests)));
  std::vector<protocol::ChunkKernel> built;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    ChosenKernel& one = kernels[i];
    if (builds[i].outcome.kind != OutcomeKind::kOk) {
      context.terminal().note(fmt::format("{}: its {} kernel was not built ({}), so cuBLASLt's is taken",
                                          one.problem.title(), one.guessed ? "guessed" : "best",
                                          builds[i].outcome.reason));
      continue;
    }
    built.push_back({one.problem, {one.request.variant, std::move(one.plan), std::move(builds[i].build)}, one.guessed});
  }
  return built;
}

}  // namespace pgtune::tool
