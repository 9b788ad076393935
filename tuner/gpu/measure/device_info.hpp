// SPDX-License-Identifier: MIT
// The list of GPUs, their properties, and the resolution of a GPU's two clocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// The CUDA version that the driver supports, "13.0"; empty if no driver is loaded.
[[nodiscard]] std::string driver_cuda_version();
/// "13.0.2". Errors (environment): cuBLASLt cannot be loaded; cause and remedy.
[[nodiscard]] Result<std::string> cublaslt_version();
/// Number of GPUs CUDA shows this process, at least 1. Errors (environment): no driver, one too old for the CUDA
/// runtime (have and need), no GPU, none visible.
[[nodiscard]] Result<int> gpu_count();
/// The CUDA ordinal of `gpu`: an ordinal, a UUID as nvidia-smi prints it, or the unique beginning of one.
[[nodiscard]] Result<int> find_gpu(const std::string& gpu);
[[nodiscard]] Result<DeviceInfo> describe_gpu(int ordinal);

/// "GPU-", of an `instance` (MIG) "MIG-", and the 16 bytes in the grouping of a UUID.
[[nodiscard]] std::string uuid_text(const char (&bytes)[16], bool instance = false);

struct TimerFacts {
  double event_floor_s = 0;       ///< median time between two events with nothing between them
  double globaltimer_step_s = 0;  ///< of the counter the SM clock is measured against
};

/// The smallest difference of two different readings, in their unit; 0 if there are no two.
[[nodiscard]] std::uint64_t smallest_step(std::vector<std::uint64_t> readings);

/// Measures both on GPU `ordinal`, in the calling thread's context; takes a fraction of a second, most of it for
/// compiling. Errors of CUDA or NVRTC.
[[nodiscard]] Result<TimerFacts> check_timers(int ordinal);

}  // namespace pgtune::gpu
