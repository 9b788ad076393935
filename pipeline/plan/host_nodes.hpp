// SPDX-License-Identifier: MIT
// NUMA nodes of host memory: which there are, and memory of a given one. Linux system calls; no library.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace pgtune {

/// "0-1,3" as 0, 1, 3, as the kernel writes lists; nothing where it is none. Numbers above kMostHostNodes are left out.
[[nodiscard]] std::optional<std::vector<int>> parse_node_list(std::string_view text);
inline constexpr int kMostHostNodes = 64;

/// Nodes with memory that this process may use, ascending; nothing where the kernel does not tell. `proc` and `nodes`
/// are /proc and /sys/devices/system/node outside tests.
[[nodiscard]] std::vector<int> host_nodes(const std::filesystem::path& proc = "/proc",
                                          const std::filesystem::path& nodes = "/sys/devices/system/node");

/// Those of them among which memory can be told to lie: none where there is but one, or where the system refuses, as
/// containers may.
[[nodiscard]] std::vector<int> choosable_host_nodes();

/// Pages of [memory, memory + bytes) that nobody has touched yet come from the node as long as it has some; `memory`
/// begins a page. Whether the system takes it.
[[nodiscard]] bool prefer_node(void* memory, std::size_t bytes, int node);
/// Whether pages that were touched lie there: first, last, and one in each 16 MiB between.
[[nodiscard]] bool lies_on_node(const void* memory, std::size_t bytes, int node);

}  // namespace pgtune
