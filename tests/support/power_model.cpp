// SPDX-License-Identifier: MIT
#include "power_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace pgtune::support {
namespace {

constexpr double kStep_s = 1e-3;

}  // namespace

PowerLoad settling_load(std::string name, double launch_s, double clock_hz, const PowerGpu& gpu) {
  const double relative = clock_hz / gpu.reference_hz;
  const double warm_w = gpu.reference_hz * relative * relative * relative * (1 + gpu.leak);
  return {std::move(name), launch_s * clock_hz, gpu.cap_w / warm_w};
}

PowerSample PowerModel::sample(const PowerLoad& load, double lead_in_s, double timed_s) {
  if (lead_in_s > 0) run(load, lead_in_s);
  PowerSample sample = run(load, timed_s);
  sample.launch_s *= std::exp(gpu_.sample_noise * normal());
  return sample;
}

PowerSample PowerModel::run(const PowerLoad& load, double duration_s) {
  const double lost_s = load.name == running_ ? 0 : std::min(gpu_.switch_s, duration_s);
  running_ = load.name;
  double cycles = 0, joules = 0;
  const int steps = std::max(1, static_cast<int>(std::lround(duration_s / kStep_s)));
  const double step_s = duration_s / steps;
  for (int i = 0; i < steps; ++i) {
    const double relative = clock_hz_ / gpu_.reference_hz;
    const double power_w =
        load.joules_per_cycle * gpu_.reference_hz * relative * relative * relative * (1 + gpu_.leak * heat_);
    cycles += clock_hz_ * (i == 0 ? step_s - lost_s : step_s);
    joules += power_w * step_s;
    average_w_ += (power_w - average_w_) * step_s / gpu_.average_s;
    const double excess = average_w_ / gpu_.cap_w - 1;
    clock_hz_ = std::min(clock_hz_ * (1 - gpu_.gain * excess * step_s / gpu_.average_s), gpu_.top_hz);
    heat_ += (power_w / gpu_.cap_w - heat_) * step_s / gpu_.heat_s;
  }
  level_ += gpu_.wander * std::sqrt(duration_s) * normal();
  now_s_ += duration_s;
  return {load.cycles_per_launch * duration_s / cycles * std::exp(level_), cycles / duration_s, joules / duration_s};
}

double PowerModel::alone_s(const PowerLoad& load) const {
  const double at_reference_w = load.joules_per_cycle * gpu_.reference_hz * (1 + gpu_.leak);
  const double settled_hz = gpu_.reference_hz * std::cbrt(gpu_.cap_w / at_reference_w);
  return load.cycles_per_launch / std::min(settled_hz, gpu_.top_hz);
}

/// Box and Muller; what the standard's own distribution gives differs between libraries.
double PowerModel::normal() {
  const auto uniform = [this] { return (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace pgtune::support
