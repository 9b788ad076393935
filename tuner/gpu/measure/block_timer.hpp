// SPDX-License-Identifier: MIT
// Times one block of launches between two CUDA events and measures the SM clock over it.
#pragma once

#include <memory>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/helper_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// An SM's time and clock counter at one instant.
struct ClockReading {
  std::uint64_t time_ns = 0, clocks = 0;
};

/// Mean clock in Hz of the SMs that were read both times; 0 where there is none.
[[nodiscard]] double mean_clock_hz(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after);

class BlockTimer {
 public:
  /// `kernels` must outlive the timer.
  [[nodiscard]] static CudaResult<std::unique_ptr<BlockTimer>> create(const HelperKernels& kernels, int sm_count);

  /// Runs `lead_in` untimed launches, then at least `launches` timed ones, and waits for them. Fills launches, time_s
  /// and sm_clock_hz of the block.
  [[nodiscard]] CudaResult<Block> time(LaunchSeries& series, std::int64_t launches, std::int64_t lead_in = 0);

 private:
  explicit BlockTimer(const HelperKernels& kernels) : kernels_(&kernels) {}
  [[nodiscard]] CudaResult<double> fetch_clock();

  const HelperKernels* kernels_;
  Event start_, stop_;
  DeviceBuffer clocks_;  ///< readings before the block, then readings after it
  std::vector<ClockReading> before_, after_;
};

}  // namespace pgtune::gpu
