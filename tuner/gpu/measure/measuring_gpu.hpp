// SPDX-License-Identifier: MIT
// A GPU that a worker measures on: CUDA on it, pgtune's own kernels, and the timer of samples.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/records.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

struct GpuContext {
  Driver driver;
  Stream stream;
  int max_window_bytes = 0;  ///< the limit on an access policy window, 0 where there is none
};

/// Starts CUDA on the device with this ordinal and makes it the thread's. Errors (environment) name the remedy.
[[nodiscard]] Result<GpuContext> open_context(int ordinal);

struct MeasuringGpu {
  MeasuringGpu() = default;
  MeasuringGpu(const MeasuringGpu&) = delete;  // kernels and timer keep where the driver's entry points are
  MeasuringGpu& operator=(const MeasuringGpu&) = delete;

  DeviceInfo info;
  std::optional<NvmlDevice> nvml;  ///< nothing where this GPU's NVML cannot be read
  GpuContext gpu;
  std::unique_ptr<HelperKernels> kernels;
  std::unique_ptr<SampleTimer> timer;
  std::optional<L2Sweep> sweep;
  bool context_lost = false;  ///< a sticky error came: the process is of no more use

  /// `selector`: ordinal, UUID or the unique beginning of one. Errors (environment) carry the remedy. Must be the
  /// process's first use of CUDA: it removes environment variables that would let cuBLAS leave strict float32.
  [[nodiscard]] Result<void> open(const std::string& selector);

  /// What its baselines are made of: "cuBLASLt 13.1.0".
  [[nodiscard]] std::string library() const { return "cuBLASLt " + info.cublaslt_version; }

  /// What became of whoever met the failure.
  [[nodiscard]] Outcome outcome_of(const CudaFailure& failure) {
    context_lost = context_lost || failure.sticky;
    return failure_outcome(failure);
  }
  /// Takes what time_round() returned into a report that has room for as many.
  void take(std::vector<std::optional<CudaResult<Sample>>> samples, protocol::RoundReport& report) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!samples[i]) continue;
      if (*samples[i]) {
        report.samples[i] = **samples[i];
      } else {
        report.outcomes[i] = outcome_of(samples[i]->error());
      }
    }
  }
  /// Where it is nobody's fault.
  [[nodiscard]] Error error_of(const CudaFailure& failure) {
    context_lost = context_lost || failure.sticky;
    return to_error(failure);
  }
  /// Notes after something failed whether the context still answers.
  void look_after_context() { context_lost = context_lost || is_sticky(cudaDeviceSynchronize()); }
};

}  // namespace pgtune::gpu
