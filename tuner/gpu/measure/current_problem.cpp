// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/current_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/gpu/baseline/cublaslt_baseline.hpp"
#include "tuner/gpu/baseline/operation_baselines.hpp"
#include "tuner/gpu/measure/check/null_test.hpp"
#include "tuner/gpu/measure/check/verification.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

Error too_large(const Problem& problem, std::int64_t needed_bytes, std::size_t free_bytes) {
  return Error{ErrorKind::kUsage,
               fmt::format("{} needs {} bytes of GPU memory ({}) and {} "
                           "are free; choose a smaller problem or free memory on the GPU",
                           problem.title(), needed_bytes,
                           problem.operation ? "buffers, float64 reference, baselines' memory"
                                             : "operands, float64 reference, cuBLASLt's workspace",
                           free_bytes),
               {}};
}

}  // namespace

Result<std::unique_ptr<CurrentProblem>> CurrentProblem::create(const MeasureContext& context,
                                                               const protocol::PrepareRequest& request) {
  std::unique_ptr<CurrentProblem> current(new CurrentProblem(context, request.conditions));
  const Problem& problem = request.problem;
  if (problem.operation) {
    auto operation = OperationKernels::create(context.driver, context.kernels, problem.operation, context.architecture);
    if (!operation) return tl::unexpected(operation.error());
    current->operation_ = std::move(*operation);
  }
  if (auto ok = current->allocate(problem); !ok) return tl::unexpected(ok.error());
  // Who takes a dead worker's place need not test again what has not changed.
  if (problem.operation && !request.known) {
    if (auto ok = null_test(*current->buffers_, *current->checker_, context.stream); !ok)
      return tl::unexpected(ok.error());
  }
  auto baseline = problem.operation ? current->make_operation_baseline(request) : current->make_baseline(request);
  if (!baseline) return tl::unexpected(baseline.error());
  current->baseline_ = std::move(*baseline);
  return current;
}

Result<std::unique_ptr<Baseline>> CurrentProblem::make_baseline(const protocol::PrepareRequest& request) {
  auto lesser = lesser_checker(request.problem);
  if (!lesser) return tl::unexpected(lesser.error());
  Checker& checker = *lesser == nullptr ? *checker_ : **lesser;
  SampleTimer& timer = context_->timer;
  auto baseline =
      request.known
          ? CublasLtBaseline::take_over(request.problem, *buffers_, checker, timer, *request.known, context_->stream)
          : CublasLtBaseline::create(request.problem, *buffers_, checker, timer, context_->library, context_->stream);
  if (!baseline) return tl::unexpected(baseline.error());
  return std::move(*baseline);
}

Result<std::unique_ptr<Baseline>> CurrentProblem::make_operation_baseline(const protocol::PrepareRequest& request) {
  const BaselineParts parts{
      *buffers_,         *checker_,
      context_->kernels, context_->timer,
      context_->library, context_->stream,
      request.builds,    [this](const BuildInfo& build, const LaunchPlan& plan) { return load(build, plan); }};
  return request.known ? take_over_operation_baseline(request.problem, parts, *request.known)
                       : operation_baseline(request.problem, parts);
}

CurrentProblem::Memory CurrentProblem::memory_of(const Problem& problem) {
  if (problem.operation) {
    const BaselineMemory baselines = operation_baseline_memory(problem);
    return {operand_layout(problem).copy_bytes + baselines.copy, Checker::memory_bytes(problem) + baselines.once};
  }
  const bool as_solved = BaselineOperands::solvable(problem).epilogue == problem.epilogue;
  return {operand_layout(problem).copy_bytes + BaselineOperands::copy_bytes(problem),
          Checker::memory_bytes(problem) * (as_solved ? 1 : 2) + CublasLtContext::kWorkspaceBytes};
}

BaselineReport CurrentProblem::report() const {
  BaselineReport report = baseline_->report();
  report.unguarded = unguarded_;
  return report;
}

Result<std::unique_ptr<Checker>> CurrentProblem::lesser_checker(const Problem& problem) const {
  Problem solved = problem;
  solved.epilogue = BaselineOperands::solvable(problem).epilogue;
  if (solved == problem) return nullptr;
  auto checker = Checker::create(context_->kernels, *buffers_, solved, context_->stream);
  if (!checker) return tl::unexpected(to_error(checker.error()));
  return std::move(*checker);
}

Result<void> CurrentProblem::allocate(const Problem& problem) {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (auto ok = check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory"); !ok) {
    return tl::unexpected(to_error(ok.error()));
  }
  const auto [copy_bytes, fixed_bytes] = memory_of(problem);
  const std::int64_t rotated =
      copy_count(problem.operand_bytes(), copy_bytes, context_->l2_bytes, static_cast<std::int64_t>(free_bytes));
  const std::int64_t copies = conditions_.l2 == L2State::kWarm ? 1 : rotated;
  const Error out_of_memory = too_large(problem, copy_bytes + fixed_bytes, free_bytes);
  if (copy_bytes + fixed_bytes > static_cast<std::int64_t>(free_bytes)) return tl::unexpected(out_of_memory);

  const auto to_usage = [&](const CudaFailure& failure) {
    return failure.code == cudaErrorMemoryAllocation ? out_of_memory : to_error(failure);
  };
  auto buffers = OperandBuffers::allocate(context_->kernels, problem, {conditions_.data, conditions_.data_seed}, copies,
                                          context_->stream, operation_.get());
  if (!buffers) return tl::unexpected(to_usage(buffers.error()));
  buffers_ = std::make_unique<OperandBuffers>(std::move(*buffers));
  if (conditions_.l2 == L2State::kRotated) buffers_->sweep_with(context_->sweep);
  auto checker = Checker::create(context_->kernels, *buffers_, problem, context_->stream);
  if (!checker) return tl::unexpected(to_usage(checker.error()));
  checker_ = std::move(*checker);
  if (const auto guarded = buffers_->add_guarded_places(context_->driver); !guarded) {
    if (guarded.error().sticky) return tl::unexpected(to_error(guarded.error()));
    unguarded_ = guarded.error().message();
  }
  return {};
}

CudaResult<std::unique_ptr<LoadedVariant>> CurrentProblem::load(const BuildInfo& build, const LaunchPlan& plan) const {
  return LoadedVariant::load(context_->driver, context_->kernels, build, plan, buffers_->places(),
                             context_->max_window_bytes, context_->stream, buffers_->guarded_places());
}

LaunchSeries CurrentProblem::make_series(Launchable& launchable) const {
  return {launchable, buffers_->rotation(), context_->stream};
}

CudaResult<Finalist*> CurrentProblem::finalist(const BuildInfo& build, const LaunchPlan& plan) {
  const auto known = std::find_if(finalists_.begin(), finalists_.end(), [&](const auto& finalist) {
    return finalist->cubin_path == build.cubin_path && finalist->plan == plan;
  });
  if (known != finalists_.end()) return known->get();

  auto variant = load(build, plan);
  if (!variant) return tl::unexpected(variant.error());
  auto finalist = std::make_unique<Finalist>();
  finalist->cubin_path = build.cubin_path;
  finalist->plan = plan;
  finalist->variant = std::move(*variant);
  finalist->series = std::make_unique<LaunchSeries>(make_series(*finalist->variant));
  const auto probe = calibrate(*finalist->series, context_->timer);
  if (!probe) return tl::unexpected(probe.error());
  finalist->per_launch_s = probe->per_launch_s();
  finalists_.push_back(std::move(finalist));
  return finalists_.back().get();
}

CudaResult<protocol::VerifyReport> CurrentProblem::verify(const protocol::VerifyRequest& request) {
  const auto entrant = finalist(request.built.build, request.built.plan);
  if (!entrant) return tl::unexpected(entrant.error());
  return Verification(*buffers_, *checker_, *(*entrant)->series, request).run();
}

void CurrentProblem::keep_finalists(const std::vector<const Finalist*>& keep) {
  finalists_.erase(std::remove_if(finalists_.begin(), finalists_.end(),
                                  [&](const auto& finalist) {
                                    return std::find(keep.begin(), keep.end(), finalist.get()) == keep.end();
                                  }),
                   finalists_.end());
}

}  // namespace pgtune::gpu
