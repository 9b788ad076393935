// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/telemetry.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pgtune::gpu {

std::optional<double> counted_s(std::optional<double> before_s, std::optional<double> after_s) {
  if (!before_s || !after_s) return std::nullopt;
  return std::max(0.0, *after_s - *before_s);
}

void CounterPower::add(double now_s, double energy_j) {
  constexpr double kKnownTo_s = 5e-3;
  const Reading reading{now_s, energy_j};
  if (last_ && energy_j != last_->energy_j && now_s - last_->at_s <= kKnownTo_s) {
    if (!first_step_) first_step_ = reading;
    last_step_ = reading;
  }
  last_ = reading;
}

std::optional<double> CounterPower::power_w() const {
  // An instant is known to about a millisecond.
  constexpr double kLeast_s = 0.05;
  if (!first_step_ || last_step_->at_s - first_step_->at_s < kLeast_s) return std::nullopt;
  return (last_step_->energy_j - first_step_->energy_j) / (last_step_->at_s - first_step_->at_s);
}

SampleWatch::SampleWatch(NvmlDevice device)
    : device_(std::move(device)), thread_([this](const std::stop_token& ended) { read(ended); }) {}

void SampleWatch::read(const std::stop_token& ended) {
  constexpr auto kBetweenReadings = std::chrono::milliseconds(1);
  throttled_before_ = device_.throttle_times();
  while (!ended.stop_requested()) {
    const auto energy_j = device_.energy_j();
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    if (energy_j && !ended.stop_requested()) power_.add(now.count(), *energy_j);
    std::this_thread::sleep_for(kBetweenReadings);
  }
}

SampleWatch::Seen SampleWatch::end() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return {throttled_before_, power_.power_w()};
}

std::unique_ptr<SampleWatch> Telemetry::watch() const {
  return device_ ? std::make_unique<SampleWatch>(*device_) : nullptr;
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
