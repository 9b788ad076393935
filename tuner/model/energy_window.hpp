// SPDX-License-Identifier: MIT
// Energy of a steady load between two steps of the GPU's energy counter, and what the GPU can reach at most.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tuner/util/fields.hpp"
#include "tuner/util/result.hpp"

namespace pgtune {

/// One window. It starts and ends at a step of the counter seen while the load runs.
struct EnergyWindow {
  double window_s = 0;
  double energy_j = 0;     ///< of the whole GPU board over the window
  std::int64_t steps = 0;  ///< of the counter inside the window
  double step_s = 0;       ///< the counter's period as seen in this window
  double uncertainty = 0;  ///< relative, of energy_j: how exactly the two steps were caught, over the window
  double averaged_power_w =
      0;                      ///< mean of the driver's averaged power after the window's first second; 0: no such field
  std::int64_t launches = 0;  ///< timed by events inside the window; 0 when idle
  double per_launch_s = 0;    ///< mean of these launches; 0 when idle
  double sm_clock_hz = 0;     ///< mean over the timed launches; 0 where it was not measured
  std::optional<double> power_cap_share;  ///< share of the window in which the power cap held the clocks down
  std::optional<double> thermal_share;    ///< likewise heat or power brake
  double temperature_start_c = 0, temperature_end_c = 0;  ///< 0 where NVML does not say

  PGTUNE_FIELDS(window_s, energy_j, steps, step_s, uncertainty, averaged_power_w, launches, per_launch_s, sm_clock_hz,
                power_cap_share, thermal_share, temperature_start_c, temperature_end_c)
  friend bool operator==(const EnergyWindow&, const EnergyWindow&) = default;
  /// Errors (database): a number that no measurement gives.
  [[nodiscard]] Result<void> validate() const;

  [[nodiscard]] double power_w() const { return window_s > 0 ? energy_j / window_s : 0; }
  /// Mean power times the time of a launch in the same window; 0 when idle.
  [[nodiscard]] double energy_per_launch_j() const { return power_w() * per_launch_s; }
  /// Counter and averaged power differ by more than 5 %: one of them is wrong, and the window must say so.
  [[nodiscard]] bool suspect() const;
};

/// What this GPU reached at most on pgtune's own kernels: the roofs of the roofline.
struct Ceilings {
  double dram_bytes_per_s = 0;  ///< bytes read plus bytes written by a copy far larger than L2
  double l2_bytes_per_s = 0;    ///< bytes read by loads that hit L2
  /// Bytes that all multiprocessors together read from shared memory; absent where it was not measured.
  std::optional<double> smem_bytes_per_s = {};
  /// FLOP/s by dtype as in to_string(Dtype), without memory traffic; only dtypes that were measured.
  std::map<std::string, double> flops;
  double sm_clock_hz = 0;  ///< mean while f32 was measured

  PGTUNE_FIELDS(dram_bytes_per_s, l2_bytes_per_s, smem_bytes_per_s, flops, sm_clock_hz)
  friend bool operator==(const Ceilings&, const Ceilings&) = default;
};

}  // namespace pgtune
