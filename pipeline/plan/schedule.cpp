// SPDX-License-Identifier: MIT
#include "pipeline/plan/schedule.hpp"

#include <utility>

#include "pipeline/exported/schedule.hpp"

namespace pgtune::pipeline {
namespace {

namespace exported = pgtune_pipeline;

constexpr EnumNames<Step, 3> kSteps{
    {{Step::kCopyIn, "copy_in"}, {Step::kCompute, "compute"}, {Step::kCopyOut, "copy_out"}}};

// Enumerators stand in the same order on both sides.
template <typename To, typename From>
constexpr To as(From value) {
  return static_cast<To>(value);
}
static_assert(as<exported::Matrix>(Matrix::kD) == exported::Matrix::d);
static_assert(as<exported::Cut>(Cut::kK) == exported::Cut::k);
static_assert(as<exported::Memory>(HostMemory::kMapped) == exported::Memory::mapped &&
              as<exported::Memory>(HostMemory::kWriteCombined) == exported::Memory::write_combined);
static_assert(as<exported::StreamUse>(StreamUse::kDefaultStream) == exported::StreamUse::default_stream);
static_assert(as<exported::Submission>(Submission::kBatched) == exported::Submission::batched);
static_assert(as<Step>(exported::detail::Kind::copy_out) == Step::kCopyOut);
static_assert(exported::detail::kLegacyStream == kLegacyStream && exported::detail::kWhole == kNoChunk);

}  // namespace

EnumTable<Step> enum_table(Step /*step*/) { return kSteps; }

std::int64_t zero_copy_bytes_in(const StreamedProblem& streamed) {
  const auto tiles = [](std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; };
  return (streamed.a ? streamed.bytes(Matrix::kA) * tiles(streamed.problem.n, kTileColumns) : 0) +
         (streamed.b ? streamed.bytes(Matrix::kB) * tiles(streamed.problem.m, kTileRows) : 0);
}

pgtune_pipeline::Plan plan_of(const StreamedProblem& streamed, const Candidate& candidate) {
  const Problem& problem = streamed.problem;
  exported::Plan plan;
  plan.m = problem.m;
  plan.n = problem.n;
  plan.k = problem.k;
  plan.transposed_a = problem.trans_a;
  plan.transposed_b = problem.trans_b;
  plan.bytes_a = static_cast<int>(streamed.element_bytes(Matrix::kA));
  plan.bytes_b = static_cast<int>(streamed.element_bytes(Matrix::kB));
  plan.bytes_d = static_cast<int>(streamed.element_bytes(Matrix::kD));
  plan.streams_a = streamed.a;
  plan.streams_b = streamed.b;
  plan.streams_d = streamed.d;
  plan.cut = as<exported::Cut>(candidate.cut);
  plan.chunk = candidate.chunk;
  plan.use = as<exported::StreamUse>(candidate.use);
  plan.streams = candidate.streams;
  plan.buffers = candidate.buffers;
  plan.breadth_first = candidate.order == IssueOrder::kBreadthFirst;
  plan.memory = as<exported::Memory>(candidate.memory);
  plan.submission = as<exported::Submission>(candidate.submission);
  plan.host_node = candidate.host_node.value_or(-1);
  return plan;
}

Schedule make_schedule(const StreamedProblem& streamed, const Candidate& candidate) {
  const exported::Plan plan = plan_of(streamed, candidate);
  Schedule schedule;
  schedule.chunks = chunks_of(streamed.problem, candidate.cut, candidate.chunk);
  schedule.streams = exported::detail::streams_of(plan);
  for (exported::detail::Step& step : exported::detail::Schedule(plan).steps) {
    Operation& operation = schedule.operations.emplace_back();
    operation.step = as<Step>(step.kind);
    operation.matrix = as<Matrix>(step.matrix);
    operation.region = {step.region.row, step.region.column, step.region.rows, step.region.columns};
    operation.chunk = step.chunk;
    operation.slot = step.slot;
    operation.stream = step.stream;
    operation.merged = step.merged;
    operation.needs = std::move(step.needs);
    if (operation.step != Step::kCompute) {
      operation.bytes = bytes_of(streamed, operation.matrix, operation.region);
    } else if (candidate.memory == HostMemory::kMapped) {
      operation.bytes = zero_copy_bytes_in(streamed);
      operation.bytes_out = streamed.bytes_out();
    }
  }
  return schedule;
}

std::size_t end_of_call(const Schedule& schedule, std::size_t first) {
  std::size_t end = first + 1;
  while (end < schedule.operations.size() && schedule.operations[end].merged) ++end;
  return end;
}

}  // namespace pgtune::pipeline
