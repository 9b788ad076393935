// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/current_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/gpu/baseline/operation_baselines.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/verification.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

/// Of data and reference, before anything else has run.
Error error_of(const Problem& problem, const CudaFailure& failure, const Error& out_of_memory) {
  if (failure.code == cudaErrorMemoryAllocation) return out_of_memory;
  Error error = to_error(failure);
  // The kernels that ran are the operation's own and pgtune's.
  if (is_kernel_fault(failure.code) && problem.has_own_reference()) error.kind = ErrorKind::kUsage;
  return error;
}

}  // namespace

Error too_large(const Problem& problem, const MemoryNeed& memory, std::int64_t free_bytes) {
  return Error{
      ErrorKind::kUsage,
      fmt::format("{} needs {} bytes of GPU memory ({}) and {} are free; choose {}, or free memory on the GPU",
                  problem.title(), memory.copy + memory.once,
                  problem.operation->gemm_baseline() == nullptr ? "buffers, float64 reference, baselines' memory"
                                                                : "operands, float64 reference, cuBLASLt's workspace",
                  free_bytes, problem.what_to_lessen()),
      {}};
}

MemoryNeed CheckedProblem::memory_of(const Problem& problem) {
  return {operand_layout(*problem.operation).copy_bytes, Checker::memory_bytes(*problem.operation)};
}

Result<std::unique_ptr<CheckedProblem>> CheckedProblem::create(const MeasuringGpu& device, const Problem& problem,
                                                               const Conditions& conditions, const MemoryNeed& memory,
                                                               bool null_tested) {
  std::unique_ptr<CheckedProblem> checked(new CheckedProblem(device));
  TRY_ASSIGN(auto operation,
             OperationKernels::create(device.gpu.driver, *device.kernels, problem.operation, device.info.architecture));
  checked->operation_ = std::move(operation);
  TRY(checked->allocate(problem, conditions, memory));
  if (problem.operation->null_test && !null_tested) {
    TRY(null_test(*checked->buffers_, *checked->checker_, device.gpu.stream.get()));
  }
  return checked;
}

Result<void> CheckedProblem::allocate(const Problem& problem, const Conditions& conditions, const MemoryNeed& memory) {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (auto ok = check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory"); !ok) {
    return tl::unexpected(to_error(ok.error()));
  }
  const auto [copy_bytes, fixed_bytes] = memory;
  const std::int64_t rotated =
      copy_count(problem.operand_bytes(), copy_bytes, device_->info.l2_bytes, static_cast<std::int64_t>(free_bytes));
  const std::int64_t copies = conditions.l2 == L2State::kWarm ? 1 : rotated;
  const Error out_of_memory = too_large(problem, memory, static_cast<std::int64_t>(free_bytes));
  if (copy_bytes + fixed_bytes > static_cast<std::int64_t>(free_bytes)) return tl::unexpected(out_of_memory);

  const auto told = [&](const CudaFailure& failure) { return error_of(problem, failure, out_of_memory); };
  auto buffers = OperandBuffers::allocate(*device_->kernels, *operation_, {conditions.data, conditions.data_seed},
                                          copies, device_->gpu.stream.get());
  if (!buffers) return tl::unexpected(told(buffers.error()));
  buffers_ = std::make_unique<OperandBuffers>(std::move(*buffers));
  if (conditions.l2 == L2State::kRotated) buffers_->sweep_with(*device_->sweep);
  auto checker = Checker::create(*device_->kernels, *buffers_, *operation_, device_->gpu.stream.get());
  if (!checker) return tl::unexpected(told(checker.error()));
  checker_ = std::move(*checker);
  if (const auto guarded = buffers_->add_guarded_places(device_->gpu.driver); !guarded) {
    if (guarded.error().sticky) return tl::unexpected(to_error(guarded.error()));
    unguarded_ = guarded.error().message();
  }
  return {};
}

CudaResult<std::unique_ptr<LoadedVariant>> CheckedProblem::load(const protocol::BuiltVariant& built) const {
  return LoadedVariant::load(device_->gpu.driver, *device_->kernels, built.build, built.plan, buffers_->places(),
                             device_->gpu.max_window_bytes, device_->gpu.stream.get(), buffers_->guarded_places());
}

LaunchSeries CheckedProblem::make_series(Launchable& launchable) const {
  return {launchable, buffers_->rotation(), device_->gpu.stream.get()};
}

Result<std::unique_ptr<CurrentProblem>> CurrentProblem::create(const MeasuringGpu& device,
                                                               const protocol::PrepareRequest& request) {
  std::unique_ptr<CurrentProblem> current(new CurrentProblem(device, request.conditions));
  const Problem& problem = request.problem;
  if (!problem.operation)
    return fail(ErrorKind::kInternal, fmt::format("{} came without its operation", problem.title()));
  MemoryNeed memory = CheckedProblem::memory_of(problem);
  const MemoryNeed of_baselines = request.alone ? MemoryNeed{} : baseline_memory(problem);
  memory.copy += of_baselines.copy;
  memory.once += of_baselines.once;
  // A replacement worker need not repeat tests of unchanged parts.
  TRY_ASSIGN(auto checked,
             CheckedProblem::create(device, problem, request.conditions, memory, request.known.has_value()));
  current->checked_ = std::move(checked);
  TRY(current->count_data(problem));
  if (request.alone) {
    current->baseline_ = make_no_baseline(current->checked_->buffers(), device.gpu.stream.get());
    return current;
  }
  const BaselineParts parts{device, current->checked_->buffers(), current->checked_->checker(), request.builds,
                            [&](const protocol::BuiltVariant& built) { return current->load(built); }};
  // A copy moves as many bytes as the data make the operation move.
  TRY_ASSIGN(auto baseline, make_baseline(with_counts(problem, current->counts_), parts, request.known));
  current->baseline_ = std::move(baseline);
  return current;
}

Result<void> CurrentProblem::count_data(const Problem& problem) {
  auto counts = checked_->buffers().counts(device_->gpu.stream.get());
  if (!counts) return tl::unexpected(to_error(counts.error()));
  counts_ = std::move(*counts);
  if (counts_.empty()) return {};
  auto sound = check_work(*with_counts(problem, counts_).operation);
  if (!sound) return fail(std::move(sound.error()), "the data of the operation '" + problem.operation->name + "'");
  return {};
}

BaselineReport CurrentProblem::report() const {
  BaselineReport report = baseline_->report();
  report.unguarded = checked_->unguarded();
  report.counts = counts_;
  return report;
}

CudaResult<Finalist*> CurrentProblem::finalist(const protocol::BuiltVariant& built) {
  const auto known = std::find_if(finalists_.begin(), finalists_.end(), [&](const auto& finalist) {
    return finalist->cubin_path == built.build.cubin_path && finalist->plan == built.plan;
  });
  if (known != finalists_.end()) return known->get();

  TRY_ASSIGN(auto variant, load(built));
  auto finalist = std::make_unique<Finalist>();
  finalist->cubin_path = built.build.cubin_path;
  finalist->plan = built.plan;
  finalist->variant = std::move(variant);
  finalist->series = std::make_unique<LaunchSeries>(make_series(*finalist->variant));
  TRY_ASSIGN(const auto probe, calibrate(*finalist->series, *device_->timer));
  finalist->per_launch_s = probe.per_launch_s();
  finalists_.push_back(std::move(finalist));
  return finalists_.back().get();
}

CudaResult<protocol::VerifyReport> CurrentProblem::verify(const protocol::VerifyRequest& request) {
  TRY_ASSIGN(const auto entrant, finalist(request.built));
  TRY_ASSIGN(auto launches, SeriesToVerify::create(checked_->buffers(), checked_->checker(), *entrant->series,
                                                   request.launch_limit_s));
  auto report = Verification(*launches, request).run();
  // Freeing its memory waits for the kernel, and this one may never end. The process does.
  if (!report && report.error().sticky) static_cast<void>(launches.release());
  return report;
}

void CurrentProblem::keep_finalists(const std::vector<const Finalist*>& keep) {
  finalists_.erase(std::remove_if(finalists_.begin(), finalists_.end(),
                                  [&](const auto& finalist) {
                                    return std::find(keep.begin(), keep.end(), finalist.get()) == keep.end();
                                  }),
                   finalists_.end());
}

}  // namespace pgtune::gpu
