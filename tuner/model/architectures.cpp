// SPDX-License-Identifier: MIT
#include "tuner/model/architectures.hpp"

#include <array>

namespace pgtune {
namespace {

struct Architecture {
  std::string_view target, part;
  int major, minor, sm_count;
  std::int64_t memory_gib, l2_mib, smem_per_block_kib, smem_per_sm_kib;
  int threads_per_sm;
};

constexpr std::array kArchitectures{
    Architecture{"sm_80", "A100", 8, 0, 108, 80, 40, 163, 164, 2048},
    Architecture{"sm_86", "A40", 8, 6, 84, 48, 6, 99, 100, 1536},
    Architecture{"sm_89", "L40S", 8, 9, 142, 48, 96, 99, 100, 1536},
    Architecture{"sm_90", "H100", 9, 0, 132, 80, 50, 227, 228, 2048},
    Architecture{"sm_90a", "H100", 9, 0, 132, 80, 50, 227, 228, 2048},
    Architecture{"sm_100", "B200", 10, 0, 148, 180, 126, 227, 228, 2048},
    Architecture{"sm_120", "RTX 5090", 12, 0, 170, 32, 96, 99, 100, 1536},
};

}  // namespace

std::optional<DeviceInfo> architecture_info(std::string_view target) {
  for (const Architecture& known : kArchitectures) {
    if (known.target != target) continue;
    DeviceInfo info;
    info.name = std::string(known.part) + " (" + std::string(target) + ", not present)";
    info.architecture = target;
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
  for (const Architecture& known : kArchitectures) names.emplace_back(known.target);
  return names;
}

}  // namespace pgtune
