// SPDX-License-Identifier: MIT
#include "tuner/util/host_limits.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

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

/// What a line of memory.stat counts that the kernel gives back before a limit is met.
std::int64_t file_cache_bytes(const fs::path& group) {
  std::ifstream file(group / "memory.stat");
  std::string label;
  for (std::int64_t bytes = 0; file >> label >> bytes;) {
    if (label == "inactive_file") return bytes;
  }
  return 0;
}

/// The path of this process' group of cgroup v2, "0::/user.slice/...".
std::optional<std::string> own_group(const fs::path& proc) {
  std::ifstream file(proc / "self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::/")) return line.substr(4);
  }
  return std::nullopt;
}

/// `group` below `cgroups`, and all above it, where a limit may be set too.
std::vector<fs::path> with_parents(const fs::path& cgroups, const std::string& group) {
  std::vector<fs::path> out{group.empty() ? cgroups : cgroups / group};
  while (out.back() != cgroups && out.back() != out.back().parent_path()) out.push_back(out.back().parent_path());
  return out;
}

/// The path of this process' group of the controller "cpu" of cgroup v1, "4:cpu,cpuacct:/batch/job".
std::optional<std::string> own_cpu_group_v1(const fs::path& proc) {
  std::ifstream file(proc / "self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto names = line.find(':'), path = line.find(":/", names + 1);
    if (names == std::string::npos || path == std::string::npos) continue;
    if ((',' + line.substr(names + 1, path - names - 1) + ',').find(",cpu,") != std::string::npos)
      return line.substr(path + 2);
  }
  return std::nullopt;
}

void lessen(std::optional<double>& least, std::optional<std::int64_t> quota_us, std::optional<std::int64_t> period_us) {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return;
  const double cores = static_cast<double>(*quota_us) / static_cast<double>(*period_us);
  least = std::min(least.value_or(cores), cores);
}

std::optional<double> quota_cores(const fs::path& proc, const fs::path& cgroups) {
  std::optional<double> least;
  if (const auto own = own_group(proc)) {
    for (const fs::path& group : with_parents(cgroups, *own)) {
      std::ifstream file(group / "cpu.max");  // "150000 100000", or "max 100000"
      std::int64_t quota_us = 0, period_us = 0;
      if (file >> quota_us >> period_us) lessen(least, quota_us, period_us);
    }
  }
  if (const auto own = own_cpu_group_v1(proc)) {
    for (const fs::path& group : with_parents(cgroups / "cpu", *own))
      lessen(least, number_in(group / "cpu.cfs_quota_us"), number_in(group / "cpu.cfs_period_us"));
  }
  return least;
}

std::optional<std::size_t> affinity_cores() {
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t* const mask = CPU_ALLOC(static_cast<std::size_t>(most));
    if (mask == nullptr) return std::nullopt;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    const bool read = ::sched_getaffinity(0, bytes, mask) == 0;
    const int count = read ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (count > 0) return static_cast<std::size_t>(count);
  }
  return std::nullopt;
}

}  // namespace

std::size_t CoreLimits::least() const {
  std::size_t out = std::max<std::size_t>(machine, 1);
  if (affinity) out = std::min(out, *affinity);
  if (quota) out = std::min(out, static_cast<std::size_t>(*quota));
  std::size_t granted = 0;
  if (slurm && std::from_chars(slurm->data(), slurm->data() + slurm->size(), granted).ec == std::errc() && granted > 0)
    out = std::min(out, granted);
  return std::max<std::size_t>(out, 1);
}

CoreLimits core_limits(const fs::path& proc, const fs::path& cgroups) {
  CoreLimits limits{std::thread::hardware_concurrency(), affinity_cores(), quota_cores(proc, cgroups)};
  for (const char* name : {"SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_TASK"}) {
    if (const char* const value = std::getenv(name)) limits.slurm = value;
  }
  return limits;
}

std::size_t usable_cores() { return core_limits().least(); }

std::optional<std::int64_t> available_memory_bytes(const fs::path& proc, const fs::path& cgroups) {
  std::optional<std::int64_t> least = system_bytes(proc);
  const auto own = own_group(proc);
  if (!own) return least;
  for (const fs::path& group : with_parents(cgroups, *own)) {
    const auto limit = number_in(group / "memory.max");
    const auto used = number_in(group / "memory.current");
    if (limit && used) {
      const std::int64_t left = std::max<std::int64_t>(0, *limit - *used + file_cache_bytes(group));
      least = least ? std::min(*least, left) : left;
    }
  }
  return least;
}

}  // namespace pgtune
