// SPDX-License-Identifier: MIT
// Times one sample of launches between two CUDA events, measures the SM clock over it, and reads NVML around it.
#pragma once

#include <memory>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/telemetry.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// An SM's time and clock counter at one instant.
struct ClockReading {
  std::uint64_t time_ns = 0, clocks = 0;
};

/// Mean clock in Hz of the SMs that were read both times; 0 where there is none.
[[nodiscard]] double mean_clock_hz(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after);

/// The host took longer to enqueue the sample's launches one by one, `enqueue_s`, than the GPU to run them: the GPU
/// waited for the host and the sample's time is not the kernel's. Only judges samples of several launches; a graph's
/// are enqueued in one piece.
[[nodiscard]] bool launch_bound(double enqueue_s, const Sample& sample);

/// What of NVML's a sample records.
enum class Watch {
  kTemperature,
  kThrottling,  ///< temperature too; costs the pause after the sample about 1 ms, and means little for a short sample
};

class SampleTimer {
 public:
  /// `kernels` must outlive the timer.
  [[nodiscard]] static CudaResult<std::unique_ptr<SampleTimer>> create(const HelperKernels& kernels, int sm_count,
                                                                       Telemetry telemetry);

  /// Runs `lead_in` untimed launches, then at least `launches` timed ones, and waits for them. Fills everything of the
  /// sample but its stage, round and position. A launch-bound sample is void: the series is captured and the sample
  /// timed again, once.
  [[nodiscard]] CudaResult<Sample> time(LaunchSeries& series, std::int64_t launches, std::int64_t lead_in = 0,
                                        Watch watch = Watch::kTemperature);

 private:
  struct Timed {
    Sample sample;
    double enqueue_s = 0;     ///< host time for the timed launches
    ThrottleTimes throttled;  ///< counters at the sample's beginning
  };

  SampleTimer(const HelperKernels& kernels, Telemetry telemetry)
      : kernels_(&kernels), telemetry_(std::move(telemetry)) {}
  [[nodiscard]] CudaResult<Timed> run(LaunchSeries& series, std::int64_t launches, std::int64_t lead_in, Watch watch);
  /// Enqueues the timed launches and, in between, reads the throttle counters.
  [[nodiscard]] CudaResult<> enqueue(LaunchSeries& series, std::int64_t launches, Watch watch, Timed& timed);
  [[nodiscard]] CudaResult<double> fetch_clock();

  const HelperKernels* kernels_;
  Telemetry telemetry_;
  Event start_, stop_;
  DeviceBuffer clocks_;  ///< readings before the sample, then readings after it
  std::vector<ClockReading> before_, after_;
};

}  // namespace pgtune::gpu
