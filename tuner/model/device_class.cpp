// SPDX-License-Identifier: MIT
#include "tuner/model/device_class.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tuner/model/records.hpp"

namespace pgtune {
namespace {

constexpr double kGib = 1U << 30;

/// For a record that may be untrusted: values that no GPU has count as unknown.
int rounded(double value) {
  constexpr double kMost = 1e9;
  return value > 0 && value < kMost ? static_cast<int>(std::lround(value)) : 0;
}

std::string amount(int value, const char* unit, const char* what) {
  return value > 0 ? fmt::format("{} {}", value, unit) : fmt::format("{} unknown", what);
}

}  // namespace

std::string DeviceClass::hardware() const {
  std::string out = fmt::format("{}, sm_{}{}, {} SMs, {}, {}", name, compute_major, compute_minor, sm_count,
                                amount(memory_gib, "GiB", "memory"), amount(power_limit_w, "W", "power limit"));
  if (!mig_profile.empty()) out += ", MIG " + mig_profile;
  if (!only_board.empty()) out += ", only " + only_board;
  return out;
}

std::string DeviceClass::text() const { return hardware() + ", driver " + driver_branch; }

DeviceClass device_class(const DeviceInfo& device) {
  DeviceClass out{.name = device.name,
                  .compute_major = device.compute_major,
                  .compute_minor = device.compute_minor,
                  .sm_count = device.sm_count,
                  .memory_gib = rounded(static_cast<double>(device.memory_bytes) / kGib),
                  .power_limit_w = rounded(device.power_limit_w),
                  .mig_profile = device.mig_profile,
                  .driver_branch = device.driver_branch(),
                  .only_board = {}};
  if (out.memory_gib == 0 || out.power_limit_w == 0) out.only_board = device.uuid;
  return out;
}

}  // namespace pgtune
