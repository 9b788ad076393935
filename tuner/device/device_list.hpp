// SPDX-License-Identifier: MIT
// The GPUs that the worker sees.
#pragma once

#include <string>
#include <vector>

#include "tuner/model/gpu_process.hpp"
#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::device {

/// Runs `pgtune-worker --role list`, which prints one line {"devices": [DeviceInfo...], "driver": "...", "nvrtc":
/// "..."} with "problem": "cause and remedy" where no device can be used. At least one device, or an environment error.
[[nodiscard]] Result<std::vector<DeviceInfo>> list_devices(const std::string& worker_path);

/// Properties of a GPU that may change under the same driver.
struct GpuLimits {
  double power_limit_w = 0;  ///< enforced; 0 where NVML does not say
  bool mig_mode = false;     ///< divided into instances
};
/// Runs `pgtune-worker --role limits`, which asks NVML alone: far quicker than CUDA. Errors (environment).
[[nodiscard]] Result<GpuLimits> gpu_limits(const std::string& worker_path, const std::string& uuid);

/// All processes with a context on the GPU of that UUID, as NVML lists them. Runs `pgtune-worker --role processes`.
/// Errors (environment).
[[nodiscard]] Result<std::vector<GpuProcess>> gpu_processes(const std::string& worker_path, const std::string& uuid);

/// NVRTC's version as the worker has it, such as "13.0". Errors (environment): no worker, or none that can be asked.
[[nodiscard]] Result<std::string> compiler_version(const std::string& worker_path);

}  // namespace pgtune::device
