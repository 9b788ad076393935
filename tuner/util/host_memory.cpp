// SPDX-License-Identifier: MIT
#include "tuner/util/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace pgtune {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (!(file >> number)) return std::nullopt;  // "max" is no number and no limit
  return number;
}

/// MemAvailable of /proc/meminfo, which counts in KiB.
std::optional<std::int64_t> system_bytes(const fs::path& proc) {
  std::ifstream file(proc / "meminfo");
  std::string label, unit;
  for (std::int64_t kibibytes = 0; file >> label >> kibibytes; std::getline(file, unit)) {
    if (label == "MemAvailable:") return kibibytes << 10U;
  }
  return std::nullopt;
}

/// The bytes in a line of memory.stat that the kernel reclaims before enforcing a limit.
std::int64_t file_cache_bytes(const fs::path& group) {
  std::ifstream file(group / "memory.stat");
  std::string label;
  for (std::int64_t bytes = 0; file >> label >> bytes;) {
    if (label == "inactive_file") return bytes;
  }
  return 0;
}

/// The path of this process's group of cgroup v2, "0::/user.slice/...".
std::optional<std::string> own_group(const fs::path& proc) {
  std::ifstream file(proc / "self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::/")) return line.substr(4);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> available_memory_bytes(const fs::path& proc, const fs::path& cgroups) {
  std::optional<std::int64_t> least = system_bytes(proc);
  const auto own = own_group(proc);
  if (!own) return least;
  // A limit may be set on any group above this one.
  fs::path group = cgroups / *own;
  if (own->empty()) group = cgroups;
  for (;; group = group.parent_path()) {
    const auto limit = number_in(group / "memory.max");
    const auto used = number_in(group / "memory.current");
    if (limit && used) {
      const std::int64_t left = std::max<std::int64_t>(0, *limit - *used + file_cache_bytes(group));
      least = least ? std::min(*least, left) : left;
    }
    if (group == cgroups || group == group.parent_path()) return least;
  }
}

}  // namespace pgtune
