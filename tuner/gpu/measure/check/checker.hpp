// SPDX-License-Identifier: MIT
// The gate before timing: checks that a launchable's result is right for the current problem and that it wrote nowhere
// else. Before that, the null test checks that wrong results are found.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/fault_text.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

struct CheckVerdict {
  CheckReport report;
  std::string fault;    ///< empty: passed
  double launch_s = 0;  ///< the fastest checked launch, cold: good for a first judgement only
};

class Checker {
 public:
  /// The operand copy with the reference's data; the guarded places have the same data.
  static constexpr std::size_t kReferenceCopy = 0;

  /// Bytes that a checker allocates for `operation` in addition to the operands.
  [[nodiscard]] static std::int64_t memory_bytes(const OperationProblem& operation);

  /// Computes the float64 reference of kReferenceCopy. `operation` defines the right result: the buffers' own, or
  /// another one with the same buffers. All must outlive the checker.
  [[nodiscard]] static CudaResult<std::unique_ptr<Checker>> create(const HelperKernels& kernels,
                                                                   const OperandBuffers& buffers,
                                                                   const OperationKernels& operation,
                                                                   cudaStream_t stream);

  /// Launches over poisoned outputs and guards on each of the launchable's checked copies, waits, and compares; the
  /// first fault ends it. A failure is the launchable's fault. A launchable that passes is reset on copy 0. After a
  /// fault, all operands and, if damaged, the reference are made again, so that a wrong variant does not affect the
  /// next. A launch that has not ended `limit_s` after it was enqueued (0: no limit) is a failure with the sticky code
  /// cudaErrorLaunchTimeout, as only the end of the process ends a kernel.
  [[nodiscard]] CudaResult<CheckVerdict> check(Launchable& launchable, double limit_s = 0);

  /// Computes the reference from the present data of operand copy `copy`, for the functions below. check() needs that
  /// of copy 0.
  [[nodiscard]] CudaResult<> refer_to(std::size_t copy);
  /// Examines the result of a launch on operand copy `copy`, whose outputs had `poison` before; waits for it.
  /// Precondition: the reference is of that copy's data.
  [[nodiscard]] CudaResult<CheckFindings> look(Launchable& launchable, std::size_t copy, std::uint32_t poison);
  /// Guards of operand copy `copy`, and the launchable's own, that no longer hold kPoison.
  [[nodiscard]] CudaResult<std::vector<ChangedGuard>> changed_guards(Launchable& launchable, std::size_t copy);
  /// Adds the checksum of the result in operand copy `copy` to the 64-bit word at `sum`.
  [[nodiscard]] CudaResult<> enqueue_result_sum(std::size_t copy, std::uint64_t sum);
  [[nodiscard]] const OperationProblem& operation() const { return operation_->operation(); }
  /// Addresses of the right values and their scales.
  [[nodiscard]] ReferenceMemory reference() const { return {reference_.address(), scale_.address()}; }

 private:
  /// Checksums of the watched inputs, in order, then of the reference and its scale.
  enum Sum { kSumInputs, kSumReference = kMaxBuffers, kSumScale, kSumCount };
  using Sums = std::array<std::uint64_t, kSumCount>;

  /// The device's output for one check, copied to the host in one piece.
  struct Results {
    Comparison comparison;
    std::array<std::uint64_t, kMaxGuards> changed{};
    Sums sums{};
  };

  Checker(const HelperKernels& kernels, const OperandBuffers& buffers, const OperationKernels& operation,
          cudaStream_t stream)
      : kernels_(&kernels), buffers_(&buffers), operation_(&operation), stream_(stream) {}
  [[nodiscard]] CudaResult<CheckVerdict> check_on(Launchable& launchable, std::size_t copy, double limit_s);
  [[nodiscard]] CudaResult<CheckFindings> examine(Launchable& launchable, std::size_t copy, double limit_s);
  /// Returns the time of the last launch.
  [[nodiscard]] CudaResult<double> launch(Launchable& launchable, std::size_t copy, double limit_s);
  /// All guards of a copy, the launchable's own last.
  [[nodiscard]] std::vector<Guard> guards(const Launchable& launchable, std::size_t copy) const;
  [[nodiscard]] CudaResult<> enqueue_guards(const std::vector<Guard>& guards);
  [[nodiscard]] static std::vector<ChangedGuard> changed_ones(const std::vector<Guard>& guards, const Results& results);
  [[nodiscard]] CudaResult<> enqueue_sums(std::size_t copy, int first, int last);
  /// Refills every copy; true if the reference had been damaged and was computed again.
  [[nodiscard]] CudaResult<bool> restore();
  [[nodiscard]] CudaResult<> enqueue_reference(std::size_t copy);
  /// Compares the result in the copy with the reference.
  [[nodiscard]] CudaResult<> enqueue_residuals(std::size_t copy);
  /// The reference for that buffer's elements: right values or residuals, with their scales.
  [[nodiscard]] ReferenceMemory judged_by(const OperationBuffer& output) const;
  [[nodiscard]] CudaResult<> enqueue_comparison(std::size_t copy, std::uint32_t poison);
  [[nodiscard]] CudaResult<> clear_results();
  [[nodiscard]] CudaResult<Results> fetch_results();
  [[nodiscard]] CudaResult<> fetch_first_wrong(std::size_t copy, std::uint32_t poison, CheckFindings& findings);
  [[nodiscard]] std::uint64_t results_field(std::size_t offset) const { return results_.address() + offset; }

  const HelperKernels* kernels_;
  const OperandBuffers* buffers_;
  const OperationKernels* operation_;
  cudaStream_t stream_;
  DeviceBuffer reference_, scale_, results_;
  DeviceBuffer residual_, residual_scale_;  ///< the same for residuals; empty if the operation has none
  Event start_, stop_;
  double launch_s_ = 0;  ///< of the launch examined last
  Sums expected_{};
};

/// The null test: puts artificial results into operand copy 0 and compares them like a variant's. The reference itself,
/// rounded to the outputs' types, must pass. Zeros, the reference shifted by one element, and the results of inputs
/// with a sixteenth of zeros (each input of real numbers in turn) must fail. Errors: (usage) one of these does not
/// hold, with the conclusion for the operation, or the reference leaves elements unwritten; (internal) CUDA fails. For
/// outputs checked by residuals the right result is the reference's, and all are checked together. Restores data and
/// reference. Precondition: the buffers are an operation's.
[[nodiscard]] Result<void> null_test(const OperandBuffers& buffers, Checker& checker, cudaStream_t stream);

}  // namespace pgtune::gpu
