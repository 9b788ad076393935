// SPDX-License-Identifier: MIT
// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace pgtune {

/// Bytes that can be taken without swapping: what the kernel calls available, and no more than the control group of
/// this process has left (cgroup v2: a container's or a batch job's limit). Nothing where the kernel does not tell.
/// `proc` and `cgroups` are /proc and /sys/fs/cgroup outside tests.
[[nodiscard]] std::optional<std::int64_t> available_memory_bytes(
    const std::filesystem::path& proc = "/proc", const std::filesystem::path& cgroups = "/sys/fs/cgroup");

}  // namespace pgtune
