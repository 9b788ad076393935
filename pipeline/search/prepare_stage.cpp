// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "pipeline/plan/checked_rows.hpp"
#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/search/pipeline_run.hpp"
#include "tuner/operation/gemm_operation.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/rounds/steady_run.hpp"

namespace pgtune::session {
namespace {

/// Kernels that take so much of the bound's time may be the limit at the clock that they can hold.
constexpr double kMayLimit = 0.7;

/// A few launches run at a higher clock than the GPU can hold where they meet the power cap. By how much depends on
/// the kernel: it is asked of the chunks that are the bound where kernels are slower, since while copies are the
/// limit chunks of all sizes are alike.
void settle_kernels(PipelineRun& run, const std::vector<pipeline::Cut>& cuts) {
  const double total_s = pipeline::least_bound(run.streamed, run.machine, cuts).bound.total_s;
  pipeline::Machine slower = run.machine;
  slower.slowdown = 1 / kMayLimit;
  const pipeline::SpaceBound bound = pipeline::least_bound(run.streamed, slower, cuts);
  const double alone_s = compute_time(run.machine.compute, bound.cut, bound.chunk);
  const double chunks =
      static_cast<double>(extent_of(run.streamed.problem, bound.cut)) / static_cast<double>(bound.chunk);
  if (alone_s <= 0 || alone_s * chunks < kMayLimit * total_s) return;
  auto settled = run.device.settled({bound.cut, bound.chunk, kSettledSample.sample_s, kSettledSample.settle_s});
  if (!settled) {
    run.answer.notes.push_back("the clock that kernels can hold is not known: " + settled.error().text());
    return;
  }
  run.answer.settled = std::move(*settled);
  const Sample& sample = run.answer.settled->sample;
  if (!met_power_cap(sample, run.device.info().max_sm_clock_hz)) return;
  run.answer.slowdown = run.machine.slowdown = sample.per_launch_s() / alone_s;
}

Result<void> prepare_device(PipelineRun& run, const std::vector<protocol::ChunkKernel>& kernels) {
  run.tell(PipelineProgress::Phase::kPrepare, 0, 0);
  const Problem& searched = run.streamed.problem;
  const auto blocks = pipeline::checked_rows(searched.m, pipeline::affordable_rows(searched));
  auto block = operation::with_operation(pipeline::rows_of(searched, blocks.front().extent));
  if (!block) return tl::unexpected<Error>(std::move(block.error()));
  pipeline::StreamedProblem streamed = run.streamed;
  auto problem = operation::with_operation(streamed.problem);
  if (!problem) return tl::unexpected<Error>(std::move(problem.error()));
  streamed.problem = std::move(*problem);
  auto prepared = run.device.prepare(
      {std::move(streamed), std::move(*block), run.options.pinned_limit_bytes, run.options.conditions, kernels});
  if (!prepared) return tl::unexpected<Error>(prepared.error());
  run.answer.prepared = std::move(*prepared);
  return {};
}

Result<void> time_kernels(PipelineRun& run, const std::vector<pipeline::Cut>& cuts) {
  run.machine.compute.clear();
  run.answer.chunk_times.clear();
  for (const pipeline::Cut cut : cuts) {
    run.tell(PipelineProgress::Phase::kKernels, static_cast<std::int64_t>(run.answer.chunk_times.size()), 0);
    const auto report = run.device.kernels({cut, pipeline::chunk_extents(run.streamed.problem, cut)});
    if (!report) return fail(report.error(), "timing kernels");
    for (const pipeline::ChunkTime& time : report->times) {
      run.machine.compute[cut][time.extent] = time.time_s;
      run.answer.chunk_times.push_back(time);
    }
  }
  return {};
}

/// A guess is a kernel that nobody has tried: where timing kernels fails with some, it is done again without any.
Result<void> time_kernels_or_leave_out_guesses(PipelineRun& run, const std::vector<pipeline::Cut>& cuts) {
  auto timed = time_kernels(run, cuts);
  std::vector<protocol::ChunkKernel> stored = run.options.kernels;
  const auto guesses = std::erase_if(stored, [](const protocol::ChunkKernel& kernel) { return kernel.guessed; });
  if (timed || guesses == 0) return timed;
  run.answer.notes.push_back("guessed kernels were left out: " + timed.error().text());
  if (auto prepared = prepare_device(run, stored); !prepared) return prepared;
  return time_kernels(run, cuts);
}

}  // namespace

Result<void> prepare_pipelines(PipelineRun& run) {
  if (auto prepared = prepare_device(run, run.options.kernels); !prepared) return prepared;
  const pipeline::Prepared& machine = run.answer.prepared;
  run.space_limits = {{machine.device_bytes, machine.pinned_bytes, machine.batched_copies.value_or(false)},
                      run.options.cut,
                      run.options.memory,
                      machine.host_nodes};
  run.space = pipeline::enumerate(run.streamed, run.space_limits);
  run.answer.space = static_cast<std::int64_t>(run.space.candidates.size());
  if (run.space.candidates.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("{} has no pipeline here: {}", run.streamed.title(),
                            run.space.reasons.empty() ? "no cut divides what streams"
                                                      : fmt::format("{}", fmt::join(run.space.reasons, "; "))));
  run.tell(PipelineProgress::Phase::kRates, 0, 0);
  const auto rates = run.device.rates();
  if (!rates) return tl::unexpected<Error>(rates.error());
  run.answer.rates = run.machine.rates = *rates;
  const std::vector<pipeline::Cut> cuts = pipeline::cuts_of(run.streamed, run.space_limits);
  if (auto timed = time_kernels_or_leave_out_guesses(run, cuts); !timed) return timed;
  settle_kernels(run, cuts);
  const pipeline::SpaceBound bound = pipeline::least_bound(run.streamed, run.machine, cuts);
  run.answer.bound = bound.bound;
  run.answer.bound_cut = bound.cut;
  run.answer.bound_chunk = bound.chunk;
  run.known = run.store.trials();
  return {};
}

}  // namespace pgtune::session
