// SPDX-License-Identifier: MIT
// Power sensors with a script and a clock of their own: reading takes time, and nothing else does.
#pragma once

#include <cmath>
#include <functional>
#include <optional>

#include "tuner/gpu/measure/energy/energy_watch.hpp"

namespace pgtune::gpu {

/// Draws power_w all the time; the counter tells the energy up to its last step.
struct ScriptedGpu {
  double power_w = 600;
  double period_s = 0.1;
  double now_s = 1000;
  std::function<double()> reading_s = [] { return 2.8e-3; };
  /// When the n-th step comes; it must grow with n and stay within half a period of n * period_s.
  std::function<double(std::int64_t)> step_s = [this](std::int64_t n) { return static_cast<double>(n) * period_s; };
  /// What a reading at `time_s` gives instead, where it is set.
  std::function<std::optional<double>(double time_s, double energy_j)> distort;
  std::function<double(double time_s)> averaged_w = [this](double) { return power_w; };
  double throttled_share = 0.25;
  std::function<double(double time_s)> celsius = [](double) { return 50.0; };

  [[nodiscard]] double counter_j(double time_s) const {
    auto n = static_cast<std::int64_t>(std::floor(time_s / period_s)) + 1;
    while (step_s(n) > time_s) --n;
    return step_s(n) * power_w;
  }

  [[nodiscard]] EnergySensors sensors() {
    return {.now_s = [this] { return now_s; },
            .sleep_s = [this](double time_s) { now_s += time_s; },
            .energy_j = [this]() -> std::optional<double> {
              const double took_s = reading_s(), at_s = now_s + took_s / 2;
              now_s += took_s;
              return distort ? distort(at_s, counter_j(at_s)) : counter_j(at_s);
            },
            .averaged_power_w = [this] { return averaged_w(now_s); },
            .temperature_c = [this] { return celsius(now_s); },
            .throttle_times =
                [this] {
                  now_s += 1e-3;
                  return ThrottleTimes{.power_cap_s = now_s * throttled_share, .thermal_s = {}};
                }};
  }

  [[nodiscard]] Result<WatchedEnergy> watch(const protocol::EnergyRequest& request) {
    return watch_energy(request, sensors(), [](EnergyTracker::Signal) { return Result<void>{}; });
  }
};

}  // namespace pgtune::gpu
