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
  std::optional<NvmlDevice> nvml;  ///< nothing if this GPU's NVML cannot be read
  GpuContext gpu;
  std::unique_ptr<HelperKernels> kernels;
  std::unique_ptr<SampleTimer> timer;
  std::optional<L2Sweep> sweep;
  bool context_lost = false;  ///< a sticky error occurred: the process must end

  /// `selector`: ordinal, UUID or the unique beginning of one. Errors (environment) carry the remedy. Must be the
  /// process's first use of CUDA: it removes environment variables that would let cuBLAS leave strict float32.
  [[nodiscard]] Result<void> open(const std::string& selector);

  /// The library of its baselines: "cuBLASLt 13.1.0".
  [[nodiscard]] std::string library() const { return "cuBLASLt " + info.cublaslt_version; }

  /// The outcome of the contender with the failure.
  [[nodiscard]] Outcome outcome_of(const CudaFailure& failure) {
    context_lost = context_lost || failure.sticky;
    return failure_outcome(failure);
  }
  /// Copies the result of time_round() into a report of the same size.
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
  /// The error if no contender is at fault.
  [[nodiscard]] Error error_of(const CudaFailure& failure) {
    context_lost = context_lost || failure.sticky;
    return to_error(failure);
  }
  /// Records after a failure whether the context still works.
  void look_after_context() { context_lost = context_lost || is_sticky(cudaDeviceSynchronize()); }
};

}  // namespace pgtune::gpu
