// SPDX-License-Identifier: MIT
// Times one sample of launches between two CUDA events, measures the SM clock over it, and reads NVML around it.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/clock_meter.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/settling.hpp"
#include "tuner/gpu/measure/telemetry.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// What of NVML's a sample records.
enum class Watch {
  kTemperature,
  kThrottling,  ///< temperature too; costs the pause after the sample about 1 ms, and means little for a short sample
  kPower,       ///< throttling too; reads the energy counter all the time, for long samples
};

/// The host's time in seconds since whenever, which never goes back.
using HostClock = std::function<double()>;

class SampleTimer {
 public:
  /// `kernels` must outlive the timer.
  [[nodiscard]] static CudaResult<std::unique_ptr<SampleTimer>> create(const HelperKernels& kernels, int sm_count,
                                                                       Telemetry telemetry);
  /// With another meter of the SM clock, or none, and another host's time.
  [[nodiscard]] static CudaResult<std::unique_ptr<SampleTimer>> create(ClockMeter clock, Telemetry telemetry,
                                                                       HostClock host_s);

  /// Runs `lead_in` untimed launches, then at least `launches` timed ones, and waits for them. Fills everything of the
  /// sample but its stage, round and position. A launch-bound sample, for whose launches the GPU waited one by one (it
  /// had 128 of them left at most somewhere after the first 512, or two when the last one was enqueued), is void and
  /// timed again: a busy host is late once. After a second one the series' mode has graphs, and the series is captured;
  /// others of that mode follow when they are told (LaunchSeries::follow_mode()).
  [[nodiscard]] CudaResult<Sample> time(LaunchSeries& series, std::int64_t launches, std::int64_t lead_in = 0,
                                        Watch watch = Watch::kTemperature);

  /// Runs the series until it has settled by `rule`, after idling by what that says of it (whatever ran since the last
  /// settled sample counts as idling), then times at least `sample_s` of it without a gap, and watches
  /// throttling and power. `per_launch_s`: about what a launch takes. The sample says how long its lead-in was. A
  /// launch-bound sample as in time().
  [[nodiscard]] CudaResult<Sample> time_settled(LaunchSeries& series, double per_launch_s, double sample_s,
                                                const SettlingRule& rule);
  /// The lead-in of the last settled sample, piece by piece.
  [[nodiscard]] const std::vector<SettlingPoint>& settling() const { return settling_; }

 private:
  using EnqueueLeadIn = std::function<CudaResult<>()>;
  struct Wanted {
    std::int64_t launches = 0;
    Watch watch = Watch::kTemperature;
  };
  struct Timed {
    Sample sample;
    bool launch_bound = false;
    std::optional<ThrottleTimes> throttled;  ///< counters at the sample's beginning, or right after it was enqueued
    std::unique_ptr<SampleWatch> watch;
  };

  SampleTimer(ClockMeter clock, Telemetry telemetry, HostClock host_s)
      : clock_(std::move(clock)), telemetry_(std::move(telemetry)), host_s_(std::move(host_s)) {}
  [[nodiscard]] CudaResult<Timed> run(LaunchSeries& series, const Wanted& wanted, const EnqueueLeadIn& lead_in);
  /// run() until a sample is not launch-bound, as time() says.
  [[nodiscard]] CudaResult<Sample> run_unless_launch_bound(LaunchSeries& series, const Wanted& wanted,
                                                           const EnqueueLeadIn& lead_in);
  /// Enqueues pieces of `launches` and waits for them until they have settled; the last ones are still running then.
  [[nodiscard]] CudaResult<> settle(LaunchSeries& series, std::int64_t launches, const SettlingRule& rule);
  /// Enqueues the timed launches and, in between where they are many, reads the throttle counters of a sample that has
  /// no watch. Says whether the sample is launch-bound.
  [[nodiscard]] CudaResult<> enqueue(LaunchSeries& series, const Wanted& wanted, Timed& timed);

  ClockMeter clock_;
  Telemetry telemetry_;
  HostClock host_s_;
  /// Pieces of a settling lead-in that are enqueued at any time, so that the GPU never waits for the host.
  static constexpr std::size_t kQueuedPieces = 3;

  Event start_, reached_, stop_;
  Event lead_in_start_;
  std::array<Event, kQueuedPieces + 1> piece_ends_;  ///< in turn
  std::vector<SettlingPoint> settling_;
  double settled_end_s_ = -std::numeric_limits<double>::infinity();  ///< of the last settled sample
};

}  // namespace pgtune::gpu
