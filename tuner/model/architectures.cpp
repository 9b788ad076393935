// SPDX-License-Identifier: MIT
#include "tuner/model/architectures.hpp"

#include <fmt/format.h>

#include <array>

namespace pgtune {
namespace {

struct Architecture {
  std::string_view part;
  int major, minor, sm_count;
  std::int64_t memory_gib, l2_mib, smem_per_block_kib, smem_per_sm_kib;
  int threads_per_sm;
};

constexpr std::array kArchitectures{
    Architecture{"A100", 8, 0, 108, 80, 40, 163, 164, 2048},
    Architecture{"A40", 8, 6, 84, 48, 6, 99, 100, 1536},
    Architecture{"L40S", 8, 9, 142, 48, 96, 99, 100, 1536},
    Architecture{"H100", 9, 0, 132, 80, 50, 227, 228, 2048},
    Architecture{"B200", 10, 0, 148, 180, 126, 227, 228, 2048},
    Architecture{"RTX 5090", 12, 0, 170, 32, 96, 99, 100, 1536},
};

}  // namespace

std::string architecture_name(int compute_major, int compute_minor) {
  return fmt::format("sm_{}{}{}", compute_major, compute_minor, compute_major >= 9 ? "a" : "");
}

std::optional<DeviceInfo> architecture_info(std::string_view name) {
  for (const Architecture& known : kArchitectures) {
    DeviceInfo info;
    info.architecture = architecture_name(known.major, known.minor);
    if (name != info.architecture && name != fmt::format("sm_{}{}", known.major, known.minor)) continue;
    info.name = fmt::format("{} ({}, not present)", known.part, info.architecture);
    info.compute_major = known.major;
    info.compute_minor = known.minor;
    info.sm_count = known.sm_count;
    info.memory_bytes = known.memory_gib << 30;
    info.l2_bytes = known.l2_mib << 20;
    info.smem_per_block_bytes = known.smem_per_block_kib << 10;
    info.smem_per_sm_bytes = known.smem_per_sm_kib << 10;
    info.registers_per_sm = 65536;
    info.threads_per_sm = known.threads_per_sm;
    return info;
  }
  return std::nullopt;
}

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Architecture& known : kArchitectures) names.push_back(architecture_name(known.major, known.minor));
  return names;
}

}  // namespace pgtune
