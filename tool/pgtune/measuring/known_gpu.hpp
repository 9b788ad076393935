// SPDX-License-Identifier: MIT
// The GPU of this machine without asking CUDA, which takes longer than an answer from the database may.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "db/database.hpp"
#include "tool/pgtune/cli/paths.hpp"
#include "tuner/device/device_list.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::tool {

/// The limits of the GPU with a UUID: device::gpu_limits() outside tests.
using ReadLimits = std::function<Result<device::GpuLimits>(const std::string& uuid)>;

/// What the database knows of this machine's GPU, with the power limit that it has now, where the kernel driver shows
/// exactly one, it is the one that `option` (--device) means, neither it nor the driver changed since, and it is not
/// divided into instances. Nothing where any of that is in doubt. `driver_folder` is /proc/driver/nvidia outside tests.
[[nodiscard]] std::optional<DeviceInfo> known_gpu(const db::Database& database, const std::string& option,
                                                  const Environment& environment,
                                                  const std::filesystem::path& driver_folder,
                                                  const ReadLimits& read_limits);

}  // namespace pgtune::tool
