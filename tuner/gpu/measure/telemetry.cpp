// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/telemetry.hpp"

#include <algorithm>

namespace pgtune::gpu {

std::optional<double> counted_s(std::optional<double> before_s, std::optional<double> after_s) {
  if (!before_s || !after_s) return std::nullopt;
  return std::max(0.0, *after_s - *before_s);
}

ThrottleTimes Telemetry::throttle_times() const { return device_ ? device_->throttle_times() : ThrottleTimes{}; }

void Telemetry::record_temperature(Sample& sample) const {
  if (device_) sample.temperature_c = device_->temperature_c();
}

void Telemetry::record_throttling(const ThrottleTimes& before, Sample& sample) const {
  const ThrottleTimes after = throttle_times();
  sample.power_cap_s = counted_s(before.power_cap_s, after.power_cap_s);
  sample.thermal_s = counted_s(before.thermal_s, after.thermal_s);
}

}  // namespace pgtune::gpu
