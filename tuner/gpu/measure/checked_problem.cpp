// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/checked_problem.hpp"

#include <fmt/format.h>

#include <utility>

#include "tuner/gpu/measure/check/null_test.hpp"

namespace pgtune::gpu {
namespace {

/// Of data and reference, before anything else has run.
Error error_of(const Problem& problem, const CudaFailure& failure, const Error& out_of_memory) {
  if (failure.code == cudaErrorMemoryAllocation) return out_of_memory;
  Error error = to_error(failure);
  // The kernels that ran are the operation's own and pgtune's.
  if (is_kernel_fault(failure.code) && problem.operation->gemm_baseline() == nullptr) error.kind = ErrorKind::kUsage;
  return error;
}

}  // namespace

Error too_large(const Problem& problem, const ProblemMemory& memory, std::int64_t free_bytes) {
  return Error{
      ErrorKind::kUsage,
      fmt::format("{} needs {} bytes of GPU memory ({}) and {} are free; choose {}, or free memory on the GPU",
                  problem.title(), memory.copy + memory.once,
                  problem.operation->gemm_baseline() == nullptr ? "buffers, float64 reference, baselines' memory"
                                                                : "operands, float64 reference, cuBLASLt's workspace",
                  free_bytes, problem.what_to_lessen()),
      {}};
}

ProblemMemory CheckedProblem::memory_of(const Problem& problem) {
  return {operand_layout(*problem.operation).copy_bytes, Checker::memory_bytes(*problem.operation)};
}

Result<std::unique_ptr<CheckedProblem>> CheckedProblem::create(const MeasureContext& context, const Problem& problem,
                                                               const Conditions& conditions,
                                                               const ProblemMemory& memory, bool null_tested) {
  std::unique_ptr<CheckedProblem> checked(new CheckedProblem(context));
  auto operation = OperationKernels::create(context.driver, context.kernels, problem.operation, context.architecture);
  if (!operation) return tl::unexpected(operation.error());
  checked->operation_ = std::move(*operation);
  if (auto ok = checked->allocate(problem, conditions, memory); !ok) return tl::unexpected(ok.error());
  if (problem.operation->null_test && !null_tested) {
    if (auto ok = null_test(*checked->buffers_, *checked->checker_, context.stream); !ok)
      return tl::unexpected(ok.error());
  }
  return checked;
}

Result<void> CheckedProblem::allocate(const Problem& problem, const Conditions& conditions,
                                      const ProblemMemory& memory) {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (auto ok = check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory"); !ok) {
    return tl::unexpected(to_error(ok.error()));
  }
  const auto [copy_bytes, fixed_bytes] = memory;
  const std::int64_t rotated =
      copy_count(problem.operand_bytes(), copy_bytes, context_->l2_bytes, static_cast<std::int64_t>(free_bytes));
  const std::int64_t copies = conditions.l2 == L2State::kWarm ? 1 : rotated;
  const Error out_of_memory = too_large(problem, memory, static_cast<std::int64_t>(free_bytes));
  if (copy_bytes + fixed_bytes > static_cast<std::int64_t>(free_bytes)) return tl::unexpected(out_of_memory);

  const auto told = [&](const CudaFailure& failure) { return error_of(problem, failure, out_of_memory); };
  auto buffers = OperandBuffers::allocate(context_->kernels, *operation_, {conditions.data, conditions.data_seed},
                                          copies, context_->stream);
  if (!buffers) return tl::unexpected(told(buffers.error()));
  buffers_ = std::make_unique<OperandBuffers>(std::move(*buffers));
  if (conditions.l2 == L2State::kRotated) buffers_->sweep_with(context_->sweep);
  auto checker = Checker::create(context_->kernels, *buffers_, *operation_, context_->stream);
  if (!checker) return tl::unexpected(told(checker.error()));
  checker_ = std::move(*checker);
  if (const auto guarded = buffers_->add_guarded_places(context_->driver); !guarded) {
    if (guarded.error().sticky) return tl::unexpected(to_error(guarded.error()));
    unguarded_ = guarded.error().message();
  }
  return {};
}

CudaResult<std::unique_ptr<LoadedVariant>> CheckedProblem::load(const BuildInfo& build, const LaunchPlan& plan) const {
  return LoadedVariant::load(context_->driver, context_->kernels, build, plan, buffers_->places(),
                             context_->max_window_bytes, context_->stream, buffers_->guarded_places());
}

LaunchSeries CheckedProblem::make_series(Launchable& launchable) const {
  return {launchable, buffers_->rotation(), context_->stream};
}

}  // namespace pgtune::gpu
