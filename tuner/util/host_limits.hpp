// SPDX-License-Identifier: MIT
// How much memory and how many cores this process may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace pgtune {

/// Bytes that can be taken without swapping: what the kernel calls available, and no more than the control group of
/// this process has left (cgroup v2: a container's or a batch job's limit). Nothing where the kernel does not tell.
/// `proc` and `cgroups` are /proc and /sys/fs/cgroup outside tests.
[[nodiscard]] std::optional<std::int64_t> available_memory_bytes(
    const std::filesystem::path& proc = "/proc", const std::filesystem::path& cgroups = "/sys/fs/cgroup");

/// What limits a process' cores beside the machine; nothing where something sets no limit.
struct CoreLimits {
  std::size_t machine = 0;                  ///< 0: not known
  std::optional<std::size_t> affinity;      ///< of the mask of this process
  std::optional<double> quota;              ///< of its control groups, in cores
  std::optional<std::string> slurm = {};    ///< SLURM_CPUS_PER_TASK, else SLURM_CPUS_ON_NODE
  [[nodiscard]] std::size_t least() const;  ///< the smallest, rounded down; 1 at least
};

/// Of this process. The quota is that of cgroup v2 and of v1; arguments as above.
[[nodiscard]] CoreLimits core_limits(const std::filesystem::path& proc = "/proc",
                                     const std::filesystem::path& cgroups = "/sys/fs/cgroup");

/// How many threads or processes that compute this process should start: core_limits().least().
[[nodiscard]] std::size_t usable_cores();

}  // namespace pgtune
