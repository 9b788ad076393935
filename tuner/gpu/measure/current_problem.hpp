// SPDX-License-Identifier: MIT
// The state of the current problem: its operands on the GPU, the checker, the baseline, and finalists.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/baseline/baseline.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/measuring_gpu.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// Error (usage): the problem needs more than the free bytes; names the size to reduce. Precondition: the problem has
/// its operation.
[[nodiscard]] Error too_large(const Problem& problem, const MemoryNeed& memory, std::int64_t free_bytes);

class CheckedProblem {
 public:
  /// Of the operands, the reference and the scales. Precondition, here and below: the problem has its operation.
  [[nodiscard]] static MemoryNeed memory_of(const Problem& problem);

  /// Operand copies with data as the conditions say, the guarded places, and the float64 reference. `memory`: what the
  /// problem needs in all, so that room is left. With `null_tested` an operation has passed its null test before.
  /// Errors: usage where the problem does not fit, an operation is rejected, or its reference or a kernel that fills
  /// its buffers faults, which costs the context; internal where CUDA fails. `device` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<CheckedProblem>> create(const MeasuringGpu& device,
                                                                      const Problem& problem,
                                                                      const Conditions& conditions,
                                                                      const MemoryNeed& memory, bool null_tested);

  [[nodiscard]] CudaResult<std::unique_ptr<LoadedVariant>> load(const protocol::BuiltVariant& built) const;
  [[nodiscard]] LaunchSeries make_series(Launchable& launchable) const;
  [[nodiscard]] OperandBuffers& buffers() { return *buffers_; }
  [[nodiscard]] Checker& checker() { return *checker_; }
  /// BaselineReport::unguarded.
  [[nodiscard]] const std::string& unguarded() const { return unguarded_; }

 private:
  explicit CheckedProblem(const MeasuringGpu& device) : device_(&device) {}
  [[nodiscard]] Result<void> allocate(const Problem& problem, const Conditions& conditions, const MemoryNeed& memory);

  const MeasuringGpu* device_;
  std::unique_ptr<OperationKernels> operation_;
  std::unique_ptr<OperandBuffers> buffers_;
  std::string unguarded_;
  std::unique_ptr<Checker> checker_;
};

/// A variant kept loaded for the rounds of a final.
struct Finalist {
  std::string cubin_path;
  LaunchPlan plan;
  std::unique_ptr<LoadedVariant> variant;
  std::unique_ptr<LaunchSeries> series;  ///< calibrated
  double per_launch_s = 0;
};

class CurrentProblem {
 public:
  /// Errors as Measurer::prepare. `device` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<CurrentProblem>> create(const MeasuringGpu& device,
                                                                      const protocol::PrepareRequest& request);

  [[nodiscard]] CudaResult<std::unique_ptr<LoadedVariant>> load(const protocol::BuiltVariant& built) const {
    return checked_->load(built);
  }
  /// The finalist with its build and plan, loaded and calibrated at its first round. Owned by this object.
  [[nodiscard]] CudaResult<Finalist*> finalist(const protocol::BuiltVariant& built);
  /// Unloads finalists that are not in `keep`.
  void keep_finalists(const std::vector<const Finalist*>& keep);

  /// The request's finalist, verified as the request says. A failure is the variant's fault. Leaves data
  /// and reference as it found them.
  [[nodiscard]] CudaResult<protocol::VerifyReport> verify(const protocol::VerifyRequest& request);

  [[nodiscard]] LaunchSeries make_series(Launchable& launchable) const { return checked_->make_series(launchable); }
  [[nodiscard]] const Conditions& conditions() const { return conditions_; }
  [[nodiscard]] Checker& checker() { return checked_->checker(); }
  [[nodiscard]] Baseline& baseline() { return *baseline_; }
  /// The baseline's report, with the counts in the data and the checks that this problem lacks.
  [[nodiscard]] BaselineReport report() const;

 private:
  CurrentProblem(const MeasuringGpu& device, const Conditions& conditions)
      : device_(&device), conditions_(conditions) {}
  /// Errors: usage if they are impossible as flops and bytes.
  [[nodiscard]] Result<void> count_data(const Problem& problem);

  const MeasuringGpu* device_;
  Conditions conditions_;
  std::unique_ptr<CheckedProblem> checked_;
  std::vector<NamedScalar> counts_;  ///< BaselineReport::counts
  std::unique_ptr<Baseline> baseline_;
  std::vector<std::unique_ptr<Finalist>> finalists_;
};

}  // namespace pgtune::gpu
