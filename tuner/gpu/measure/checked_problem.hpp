// SPDX-License-Identifier: MIT
// A problem's operands on the GPU, and what judges results on them.
#pragma once

#include <memory>
#include <string>

#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/l2_sweep.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/conditions.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

/// The parts of a worker that outlive every problem.
struct MeasureContext {
  const Driver& driver;
  const HelperKernels& kernels;
  SampleTimer& timer;
  const L2Sweep& sweep;
  cudaStream_t stream;
  std::string library;  ///< "cuBLASLt 13.1.0"
  std::int64_t l2_bytes = 0;
  std::int64_t max_window_bytes = 0;
  std::string architecture = {};  ///< NVRTC target of an operation's own kernels, e.g. "sm_90a"
};

/// Bytes that copies of the operands and what else a problem needs take: of each copy, and once.
struct ProblemMemory {
  std::int64_t copy = 0, once = 0;
};

/// (usage) so many bytes are free and the problem needs more; names what to make smaller. Precondition: the problem has
/// its operation.
[[nodiscard]] Error too_large(const Problem& problem, const ProblemMemory& memory, std::int64_t free_bytes);

class CheckedProblem {
 public:
  /// Of the operands, the reference and the scales. Precondition, here and below: the problem has its operation.
  [[nodiscard]] static ProblemMemory memory_of(const Problem& problem);

  /// Operand copies with data as the conditions say, the guarded places, and the float64 reference. `memory`: what the
  /// problem needs in all, so that room is left. With `null_tested` an operation has passed its null test before.
  /// Errors: usage where the problem does not fit, an operation is rejected, or its reference or a kernel that fills
  /// its buffers faults, which costs the context; internal where CUDA fails. `context` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<CheckedProblem>> create(const MeasureContext& context,
                                                                      const Problem& problem,
                                                                      const Conditions& conditions,
                                                                      const ProblemMemory& memory, bool null_tested);

  [[nodiscard]] CudaResult<std::unique_ptr<LoadedVariant>> load(const BuildInfo& build, const LaunchPlan& plan) const;
  [[nodiscard]] LaunchSeries make_series(Launchable& launchable) const;
  [[nodiscard]] OperandBuffers& buffers() { return *buffers_; }
  [[nodiscard]] Checker& checker() { return *checker_; }
  /// BaselineReport::unguarded.
  [[nodiscard]] const std::string& unguarded() const { return unguarded_; }

 private:
  explicit CheckedProblem(const MeasureContext& context) : context_(&context) {}
  [[nodiscard]] Result<void> allocate(const Problem& problem, const Conditions& conditions,
                                      const ProblemMemory& memory);

  const MeasureContext* context_;
  std::unique_ptr<OperationKernels> operation_;
  std::unique_ptr<OperandBuffers> buffers_;
  std::string unguarded_;
  std::unique_ptr<Checker> checker_;
};

}  // namespace pgtune::gpu
