// SPDX-License-Identifier: MIT
// Which GPUs there are, as the worker sees them.
#pragma once

#include <string>
#include <vector>

#include "tuner/model/records.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::device {

/// Runs `pgtune-worker --role list`, which prints one line {"devices": [DeviceInfo...], "driver": "...", "nvrtc":
/// "..."} with "problem": "cause and remedy" where no device can be used. At least one device, or an environment error.
[[nodiscard]] Result<std::vector<DeviceInfo>> list_devices(const std::string& worker_path);

}  // namespace pgtune::device
