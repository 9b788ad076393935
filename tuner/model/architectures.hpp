// SPDX-License-Identifier: MIT
// What is known of a GPU architecture without having one: for compile-only work.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/records.hpp"

namespace pgtune {

/// Resources of a typical GPU of an NVRTC target ("sm_80", "sm_90a", ...); uuid, driver and clocks stay empty. Empty
/// for unknown targets. Source: CUDA C++ Programming Guide, technical specifications per compute capability; SM count
/// and L2 size are those of the data-centre part named in DeviceInfo::name.
[[nodiscard]] std::optional<DeviceInfo> architecture_info(std::string_view target);
/// Targets architecture_info knows, for messages.
[[nodiscard]] std::vector<std::string> known_architectures();

}  // namespace pgtune
