// SPDX-License-Identifier: MIT
#include "tuner/model/occupancy.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pgtune {
namespace {

constexpr std::int64_t kWarpThreads = 32;
constexpr std::int64_t kWarpGroup = 4;       // warps are spread over four sub-partitions
constexpr std::int64_t kRegisterUnit = 256;  // registers are given to a warp in this unit
constexpr std::int64_t kSmemUnit = 128;
constexpr std::int64_t kSmemReservedPerCta = 1024;  // taken by the system for each CTA since compute capability 8.0

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::int64_t cta_slots(const DeviceInfo& device) {
  if (device.compute_major == 12 || (device.compute_major == 8 && device.compute_minor == 9)) return 24;
  if (device.compute_major == 8 && device.compute_minor != 0) return 16;
  return 32;
}

}  // namespace

Occupancy occupancy(const DeviceInfo& device, int registers_per_thread, std::int64_t smem_bytes,
                    std::int64_t threads_per_cta) {
  const std::int64_t warps = (threads_per_cta + kWarpThreads - 1) / kWarpThreads;
  const std::int64_t registers_per_warp = round_up(std::max(registers_per_thread, 1) * kWarpThreads, kRegisterUnit);
  const std::int64_t warps_by_registers = device.registers_per_sm / registers_per_warp / kWarpGroup * kWarpGroup;
  const std::int64_t smem_per_cta = round_up(smem_bytes + kSmemReservedPerCta, kSmemUnit);

  const std::array<std::pair<std::int64_t, const char*>, 4> limits{
      {{warps_by_registers / warps, "registers"},
       {device.smem_per_sm_bytes / smem_per_cta, "shared memory"},
       {device.threads_per_sm / kWarpThreads / warps, "threads"},
       {cta_slots(device), "CTA slots"}}};
  const auto& tightest =
      *std::min_element(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Occupancy result;
  result.ctas_per_sm = static_cast<int>(tightest.first);
  result.limiter = tightest.second;
  result.warps_per_sm = static_cast<int>(tightest.first * warps);
  result.fraction = static_cast<double>(result.warps_per_sm) * kWarpThreads / device.threads_per_sm;
  return result;
}

}  // namespace pgtune
