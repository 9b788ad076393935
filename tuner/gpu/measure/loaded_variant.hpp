// SPDX-License-Identifier: MIT
// A built variant on the GPU: its module, its plan bound to the operands, and its workspace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/gpu/launch/prepared_plan.hpp"
#include "tuner/gpu/measure/check/guarded_memory.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// A variant's workspace and the memory around it that it must not write.
class Workspace {
 public:
  /// Of no bytes: nothing. `guarded`: nothing is mapped around its memory, and it may lie at either end of it;
  /// otherwise it lies between guards of kGuardBytes. `driver` must outlive the result.
  [[nodiscard]] static CudaResult<Workspace> allocate(const Driver& driver, std::int64_t bytes, bool guarded);

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// The workspace and its surrounding memory.
  [[nodiscard]] DeviceSpan memory() const;
  /// Where the workspace lies when it is at `edge`; the same for both where it is not guarded.
  [[nodiscard]] DeviceSpan at(MemoryEdge edge) const;

 private:
  std::int64_t bytes_ = 0;
  DeviceBuffer plain_;  ///< where it is not guarded
  GuardedMemory guarded_;
};

/// The cubins of the build, loaded. Errors: one cannot be read, or is not what was built. `driver` must outlive the
/// result.
[[nodiscard]] CudaResult<Module> load_modules(const Driver& driver, const BuildInfo& build);
/// The plan with the names that the build's kernels have in the module.
[[nodiscard]] LaunchPlan with_symbols(LaunchPlan plan, const BuildInfo& build);

class LoadedVariant : public Launchable {
 public:
  /// Failures are the variant's fault, except a cubin that cannot be read, which is reported the same way.
  /// `driver` and `kernels` must outlive the result; so must the memory behind `copies`, the last `guarded` of which
  /// are OperandBuffers' guarded places: with them the workspace is guarded likewise, and they are what is checked.
  [[nodiscard]] static CudaResult<std::unique_ptr<LoadedVariant>> load(
      const Driver& driver, const HelperKernels& kernels, const BuildInfo& build, const LaunchPlan& plan,
      std::vector<OperandSet> copies, std::int64_t max_window_bytes, cudaStream_t stream, std::size_t guarded = 0);

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;
  [[nodiscard]] CudaResult<> launch_next(std::size_t copy, cudaStream_t stream) override;
  [[nodiscard]] std::vector<std::size_t> checked_copies() const override;
  [[nodiscard]] CudaResult<> reset(std::size_t copy, cudaStream_t stream) override;
  [[nodiscard]] std::vector<DeviceSpan> guards(std::size_t copy) const override;
  [[nodiscard]] bool wants_persisting_l2() const override { return plan_.wants_persisting_l2(); }

 private:
  LoadedVariant(const HelperKernels& kernels, Workspace workspace, std::vector<MemoryEdge> edges, std::size_t guarded,
                Module module, PreparedPlan plan);

  const HelperKernels* kernels_;
  Workspace workspace_;
  std::vector<MemoryEdge> edges_;  ///< of the workspace, beside the operand copies
  std::size_t guarded_ = 0;        ///< how many of these are guarded places, the last ones
  Module module_;
  PreparedPlan plan_;
};

}  // namespace pgtune::gpu
