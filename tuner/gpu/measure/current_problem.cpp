// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/current_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/gpu/baseline/cublaslt_baseline.hpp"
#include "tuner/gpu/baseline/operation_baselines.hpp"
#include "tuner/gpu/measure/check/series_to_verify.hpp"
#include "tuner/gpu/measure/check/verification.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

/// What a library is checked with where it cannot compute all of the operation; else nothing.
struct LesserChecker {
  std::unique_ptr<OperationKernels> operation;
  std::unique_ptr<Checker> checker;

  static Result<LesserChecker> create(const MeasureContext& context, const OperandBuffers& buffers,
                                      const OperationProblem& problem) {
    LesserChecker out;
    if (!problem.lesser) return out;
    auto operation = OperationKernels::create(context.driver, context.kernels,
                                              OperationHandle(problem.with_lesser_result()), context.architecture);
    if (!operation) return tl::unexpected(operation.error());
    out.operation = std::move(*operation);
    auto checker = Checker::create(context.kernels, buffers, *out.operation, context.stream);
    if (!checker) return tl::unexpected(to_error(checker.error()));
    out.checker = std::move(*checker);
    return out;
  }
};

}  // namespace

Result<std::unique_ptr<CurrentProblem>> CurrentProblem::create(const MeasureContext& context,
                                                               const protocol::PrepareRequest& request) {
  std::unique_ptr<CurrentProblem> current(new CurrentProblem(context, request.conditions));
  const Problem& problem = request.problem;
  if (!problem.operation)
    return fail(ErrorKind::kInternal, fmt::format("nobody said in plain numbers what {} is", problem.title()));
  // Who takes a dead worker's place need not test again what has not changed.
  auto checked =
      CheckedProblem::create(context, problem, request.conditions, memory_of(problem), request.known.has_value());
  if (!checked) return tl::unexpected(checked.error());
  current->checked_ = std::move(*checked);
  if (auto counted = current->count_data(problem); !counted) return tl::unexpected(counted.error());
  auto baseline = problem.operation->gemm_baseline() != nullptr ? current->make_gemm_baseline(request)
                                                                : current->make_operation_baseline(request);
  if (!baseline) return tl::unexpected(baseline.error());
  current->baseline_ = std::move(*baseline);
  return current;
}

Result<std::unique_ptr<Baseline>> CurrentProblem::make_gemm_baseline(const protocol::PrepareRequest& request) {
  if (!request.problem.is_gemm())
    return fail(ErrorKind::kUsage, "a library's GEMM is compared with problems that are one");
  auto lesser = LesserChecker::create(*context_, checked_->buffers(), *request.problem.operation);
  if (!lesser) return tl::unexpected(lesser.error());
  const GemmBaselineParts parts{
      context_->driver,      checked_->buffers(), lesser->checker == nullptr ? checked_->checker() : *lesser->checker,
      context_->timer,       context_->stream,    context_->library,
      context_->architecture};
  auto baseline = request.known ? CublasLtBaseline::take_over(request.problem, parts, *request.known)
                                : CublasLtBaseline::create(request.problem, parts);
  if (!baseline) return tl::unexpected(baseline.error());
  return std::move(*baseline);
}

Result<std::unique_ptr<Baseline>> CurrentProblem::make_operation_baseline(const protocol::PrepareRequest& request) {
  const BaselineParts parts{
      checked_->buffers(), checked_->checker(),
      context_->kernels,   context_->timer,
      context_->library,   context_->stream,
      request.builds,      [this](const BuildInfo& build, const LaunchPlan& plan) { return load(build, plan); }};
  // A copy moves as many bytes as the data make the operation move.
  const Problem problem = with_counts(request.problem, counts_);
  return request.known ? take_over_operation_baseline(problem, parts, *request.known)
                       : operation_baseline(problem, parts);
}

Result<void> CurrentProblem::count_data(const Problem& problem) {
  auto counts = checked_->buffers().counts(context_->stream);
  if (!counts) return tl::unexpected(to_error(counts.error()));
  counts_ = std::move(*counts);
  if (counts_.empty()) return {};
  auto sound = check_work(*with_counts(problem, counts_).operation);
  if (!sound) return fail(std::move(sound.error()), "the data of the operation '" + problem.operation->name + "'");
  return {};
}

ProblemMemory CurrentProblem::memory_of(const Problem& problem) {
  ProblemMemory memory = CheckedProblem::memory_of(problem);
  if (problem.operation->gemm_baseline() != nullptr) {
    // For each set while the product alone is timed, and once for all launches that copy.
    const std::int64_t copied = BaselineOperands::copy_bytes(problem);
    return {memory.copy + copied,
            memory.once * (problem.operation->lesser ? 2 : 1) + copied + CublasLtContext::kWorkspaceBytes};
  }
  const BaselineMemory baselines = operation_baseline_memory(problem);
  return {memory.copy + baselines.copy, memory.once + baselines.once};
}

BaselineReport CurrentProblem::report() const {
  BaselineReport report = baseline_->report();
  report.unguarded = checked_->unguarded();
  report.counts = counts_;
  return report;
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
  return SeriesToVerify::create(checked_->buffers(), checked_->checker(), *(*entrant)->series, request.launch_limit_s)
      .and_then(
          [&](const std::unique_ptr<SeriesToVerify>& launches) { return Verification(*launches, request).run(); });
}

void CurrentProblem::keep_finalists(const std::vector<const Finalist*>& keep) {
  finalists_.erase(std::remove_if(finalists_.begin(), finalists_.end(),
                                  [&](const auto& finalist) {
                                    return std::find(keep.begin(), keep.end(), finalist.get()) == keep.end();
                                  }),
                   finalists_.end());
}

}  // namespace pgtune::gpu
