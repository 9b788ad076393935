// SPDX-License-Identifier: MIT
// How often the energy counter moves: what an energy window must be long against.
#pragma once

#include <chrono>
#include <optional>

#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::gpu {

/// Median time between two changes of the device's energy counter, in seconds, watched for at most `patience` (an
/// H200's moves every 100 ms, also when idle). Nothing where there is no counter or it moved fewer than three times.
[[nodiscard]] std::optional<double> energy_step_s(const NvmlDevice& device, std::chrono::milliseconds patience);

}  // namespace pgtune::gpu
