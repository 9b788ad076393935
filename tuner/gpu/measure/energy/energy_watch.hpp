// SPDX-License-Identifier: MIT
// Watches the GPU's power sensors over one energy window, whatever runs meanwhile. Clock and sensors are injected.
#pragma once

#include <functional>
#include <optional>

#include "tuner/gpu/measure/energy/energy_tracker.hpp"
#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// The host's clock and NvmlDevice's readings. All must be set.
struct EnergySensors {
  std::function<double()> now_s;  ///< seconds since any fixed instant; never goes back
  std::function<void(double)> sleep_s;
  std::function<std::optional<double>()> energy_j, averaged_power_w, temperature_c;
  std::function<ThrottleTimes()> throttle_times;

  [[nodiscard]] static EnergySensors of(const NvmlDevice& device);
};

struct WatchedEnergy {
  EnergyWindow window;            ///< without what only the load knows: launches, their time and clock
  double start_s = 0, end_s = 0;  ///< of the window, on the sensors' clock
};

/// Hears of every reading before anything else is read; an error ends the watch.
using EnergyListener = std::function<Result<void>(EnergyTracker::Signal)>;

/// Waits for the request's lead-in, then for its window; the contender is the caller's business. Errors: as
/// EnergyTracker::add(); environment where the GPU has no energy counter; usage where a duration or uncertainty makes
/// no sense; the listener's.
[[nodiscard]] Result<WatchedEnergy> watch_energy(const protocol::EnergyRequest& request, const EnergySensors& sensors,
                                                 const EnergyListener& listener);

/// "this GPU or its driver has no energy counter: <why>; ..." (environment).
[[nodiscard]] tl::unexpected<Error> no_energy_counter(const std::string& why);

}  // namespace pgtune::gpu
