// SPDX-License-Identifier: MIT
// Energy windows of this GPU: of a steady load, and idle.
#pragma once

#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// One window of `series` running back to back on the rotating operands, lead-in included; `per_launch_s` is an
/// estimate. Errors: as watch_energy(); internal where CUDA fails; usage where no launch fits into the window.
[[nodiscard]] Result<EnergyWindow> measure_load_energy(const protocol::EnergyRequest& request, const NvmlDevice& device,
                                                       LaunchSeries& series, double per_launch_s,
                                                       const HelperKernels& kernels, int sm_count);

/// One window of the GPU with nothing to do. The lead-in is time to settle. Errors: as watch_energy(), internal where
/// CUDA fails.
[[nodiscard]] Result<EnergyWindow> measure_idle_energy(const protocol::EnergyRequest& request,
                                                       const NvmlDevice& device);

}  // namespace pgtune::gpu
