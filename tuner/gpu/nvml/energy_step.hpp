// SPDX-License-Identifier: MIT
// How often the energy counter moves: what an energy window must be long against.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::gpu {

/// An energy counter and the clock it is watched by.
struct EnergyCounter {
  std::function<std::optional<double>()> energy_j;  ///< nothing where there is no counter
  std::function<double()> now_s;                    ///< seconds since any fixed instant; never goes back
  std::function<void(double)> sleep_s;
};

/// Median time between two changes of the counter, in seconds, watched for at most `patience_s`. Nothing where there is
/// no counter or it moved fewer than three times.
[[nodiscard]] std::optional<double> energy_step_s(const EnergyCounter& counter, double patience_s);
/// That of the device's counter (an H200's moves every 100 ms, also when idle).
[[nodiscard]] std::optional<double> energy_step_s(const NvmlDevice& device, std::chrono::milliseconds patience);

}  // namespace pgtune::gpu
