// SPDX-License-Identifier: MIT
#include "tuner/model/gpu_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace pgtune {

std::string GpuProcess::text() const {
  std::vector<std::string> known;
  if (!name.empty()) known.push_back(name);
  if (memory_bytes > 0) known.push_back(fmt::format("{} MiB", memory_bytes >> 20U));
  return known.empty() ? std::to_string(pid) : fmt::format("{} ({})", pid, fmt::join(known, ", "));
}

OtherProcesses other_processes(std::vector<GpuProcess> all, const std::vector<int>& own_pids) {
  const std::size_t listed = all.size();
  std::erase_if(all, [&](const GpuProcess& process) {
    return std::find(own_pids.begin(), own_pids.end(), process.pid) != own_pids.end();
  });
  const bool own_seen = all.size() < listed || own_pids.empty();
  if (!own_seen && listed <= 1) return {};
  return {std::move(all), !own_seen};
}

}  // namespace pgtune
