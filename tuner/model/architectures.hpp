// SPDX-License-Identifier: MIT
// GPU architectures: what to compile for, and what is known of one without having it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/records.hpp"

namespace pgtune {

/// The architecture to compile for: "sm_90a" where the GPU has architecture-specific instructions, else "sm_86".
[[nodiscard]] std::string architecture_name(int compute_major, int compute_minor);

/// Resources of a typical GPU of an architecture ("sm_80", "sm_90a", also "sm_90" for it); uuid, driver and clocks stay
/// empty. Empty for unknown ones. Source: CUDA C++ Programming Guide, technical specifications per compute capability;
/// SM count and L2 size are those of the data-centre part named in DeviceInfo::name.
[[nodiscard]] std::optional<DeviceInfo> architecture_info(std::string_view name);
/// Architectures that architecture_info knows, for messages.
[[nodiscard]] std::vector<std::string> known_architectures();

}  // namespace pgtune
