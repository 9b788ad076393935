// SPDX-License-Identifier: MIT
// NUMA nodes of host memory: their list, and memory on a given one. Uses Linux system calls; no library.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace pgtune {

/// Parses the kernel's lists: "0-1,3" is 0, 1, 3; nothing for other text. Numbers above kMostHostNodes are left out.
[[nodiscard]] std::optional<std::vector<int>> parse_node_list(std::string_view text);
inline constexpr int kMostHostNodes = 64;

/// Nodes with memory that this process may use, ascending; nothing if the kernel does not list them. `proc` and `nodes`
/// are /proc and /sys/devices/system/node outside tests.
[[nodiscard]] std::vector<int> host_nodes(const std::filesystem::path& proc = "/proc",
                                          const std::filesystem::path& nodes = "/sys/devices/system/node");

/// Whether the system puts a page on that node when it is told to, which containers may refuse.
[[nodiscard]] bool can_choose_node(int node);
/// The nodes among which memory can be told to lie: none where there is but one of them.
[[nodiscard]] std::vector<int> choosable_host_nodes(std::vector<int> nodes = host_nodes(),
                                                    bool (*can_choose)(int) = can_choose_node);

/// Makes untouched pages of [memory, memory + bytes) come from the node as long as it has free pages; `memory` must
/// begin a page. Returns whether the system accepts it.
[[nodiscard]] bool prefer_node(void* memory, std::size_t bytes, int node);
/// Whether touched pages are on the node: checks the first, the last, and one in each 16 MiB between.
[[nodiscard]] bool lies_on_node(const void* memory, std::size_t bytes, int node);

}  // namespace pgtune
