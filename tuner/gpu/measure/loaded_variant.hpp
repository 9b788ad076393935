// SPDX-License-Identifier: MIT
// A built variant in the GPU: its module, its plan bound to the operands, its workspace.
#pragma once

#include <memory>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/launch/module.hpp"
#include "tuner/gpu/launch/prepared_plan.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launchable.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

class LoadedVariant : public Launchable {
 public:
  /// Failures are the variant's fault, except a cubin that cannot be read, which is reported the same way.
  /// `driver` and `kernels` must outlive the result; so must the memory behind `copies`.
  [[nodiscard]] static CudaResult<std::unique_ptr<LoadedVariant>> load(
      const Driver& driver, const HelperKernels& kernels, const BuildInfo& build, const LaunchPlan& plan,
      std::vector<OperandSet> copies, std::int64_t max_window_bytes, cudaStream_t stream);

  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override;
  [[nodiscard]] CudaResult<> reset(cudaStream_t stream) override;
  [[nodiscard]] std::vector<DeviceSpan> guards() const override;
  [[nodiscard]] bool keeps_state() const override { return zero_workspace_ == ZeroWorkspace::kOnce; }
  [[nodiscard]] bool wants_persisting_l2() const override { return plan_.wants_persisting_l2(); }

 private:
  LoadedVariant(const HelperKernels& kernels, ZeroWorkspace zero, DeviceBuffer memory, DeviceSpan workspace,
                Module module, PreparedPlan plan);

  const HelperKernels* kernels_;
  ZeroWorkspace zero_workspace_;
  DeviceBuffer memory_;  ///< guard, workspace, guard; empty where the plan wants none
  DeviceSpan workspace_;
  Module module_;
  PreparedPlan plan_;
};

}  // namespace pgtune::gpu
