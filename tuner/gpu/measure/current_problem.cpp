// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/current_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/gpu/measure/check/verification.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

Error too_large(const Problem& problem, std::int64_t needed_bytes, std::size_t free_bytes) {
  return Error{ErrorKind::kUsage,
               fmt::format("{} needs {} bytes of GPU memory (operands, float64 reference, cuBLASLt's workspace) and {} "
                           "are free; choose a smaller problem or free memory on the GPU",
                           problem.title(), needed_bytes, free_bytes),
               {}};
}

}  // namespace

Result<std::unique_ptr<CurrentProblem>> CurrentProblem::create(const MeasureContext& context,
                                                               const protocol::PrepareRequest& request) {
  std::unique_ptr<CurrentProblem> current(new CurrentProblem(context, request.conditions));
  const Problem& problem = request.problem;
  if (auto ok = current->allocate(problem); !ok) return tl::unexpected(ok.error());
  auto lesser = current->lesser_checker(problem);
  if (!lesser) return tl::unexpected(lesser.error());
  Checker& checker = *lesser == nullptr ? *current->checker_ : **lesser;
  auto baseline =
      request.known
          ? Baseline::take_over(problem, *current->buffers_, checker, context.timer, *request.known, context.stream)
          : Baseline::create(problem, *current->buffers_, checker, context.timer, context.library, context.stream);
  if (!baseline) return tl::unexpected(baseline.error());
  current->baseline_ = std::move(*baseline);
  return current;
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
  const std::int64_t copy_bytes = operand_layout(problem).copy_bytes + BaselineOperands::copy_bytes(problem);
  const bool as_solved = BaselineOperands::solvable(problem).epilogue == problem.epilogue;
  const std::int64_t fixed_bytes =
      Checker::memory_bytes(problem) * (as_solved ? 1 : 2) + CublasLtMatmul::kWorkspaceBytes;
  const std::int64_t rotated =
      copy_count(problem.operand_bytes(), copy_bytes, context_->l2_bytes, static_cast<std::int64_t>(free_bytes));
  const std::int64_t copies = conditions_.l2 == L2State::kWarm ? 1 : rotated;
  const Error out_of_memory = too_large(problem, copy_bytes + fixed_bytes, free_bytes);
  if (copy_bytes + fixed_bytes > static_cast<std::int64_t>(free_bytes)) return tl::unexpected(out_of_memory);

  const auto to_usage = [&](const CudaFailure& failure) {
    return failure.code == cudaErrorMemoryAllocation ? out_of_memory : to_error(failure);
  };
  auto buffers = OperandBuffers::allocate(context_->kernels, problem, {conditions_.data, conditions_.data_seed}, copies,
                                          context_->stream);
  if (!buffers) return tl::unexpected(to_usage(buffers.error()));
  buffers_ = std::make_unique<OperandBuffers>(std::move(*buffers));
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
  return {launchable, buffers_->copies().size(), context_->stream};
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
