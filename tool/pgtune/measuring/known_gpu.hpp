// SPDX-License-Identifier: MIT
// The GPU of this machine without asking CUDA, which takes longer than an answer from the database may.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "db/database.hpp"
#include "tool/pgtune/cli/paths.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::tool {

/// What the database knows of this machine's GPU, where the kernel driver shows exactly one, it is the one that
/// `option` (--device) means, and neither it nor the driver changed since. Nothing where any of that is in doubt.
/// `driver_folder` is /proc/driver/nvidia outside tests.
[[nodiscard]] std::optional<DeviceInfo> known_gpu(const db::Database& database, const std::string& option,
                                                  const Environment& environment,
                                                  const std::filesystem::path& driver_folder);

}  // namespace pgtune::tool
