// SPDX-License-Identifier: MIT
// The memory that this process may still allocate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace pgtune {

/// Bytes that can be allocated without swapping: the kernel's available memory, and no more than this process's control
/// group has left (cgroup v2: a container's or a batch job's limit). Nothing if the kernel does not report it. `proc`
/// and `cgroups` are /proc and /sys/fs/cgroup outside tests.
[[nodiscard]] std::optional<std::int64_t> available_memory_bytes(
    const std::filesystem::path& proc = "/proc", const std::filesystem::path& cgroups = "/sys/fs/cgroup");

}  // namespace pgtune
