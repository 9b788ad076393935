// SPDX-License-Identifier: MIT
// Times one sample of launches between two CUDA events, after settling if requested, measures its SM clock, and reads
// NVML before and after it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/telemetry.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/sampling.hpp"

namespace pgtune::gpu {

/// An SM's time and clock counter at one instant.
struct ClockReading {
  std::uint64_t time_ns = 0, clocks = 0;
};

/// Mean clock in Hz of the SMs that were read both times; 0 if there are none.
[[nodiscard]] double mean_clock_hz(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after);

/// Measures the SM clock over a piece of work, on the GPU itself: each SM's time and clock counter before it and after.
class ClockMeter {
 public:
  /// Enqueues nothing, and every mean is 0.
  ClockMeter() = default;
  /// `kernels` must outlive the meter.
  [[nodiscard]] static CudaResult<ClockMeter> create(const HelperKernels& kernels, int sm_count);

  // Each enqueues into `stream`, in this order around the work.
  [[nodiscard]] CudaResult<> clear(cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> read_before(cudaStream_t stream) const;
  [[nodiscard]] CudaResult<> read_after(cudaStream_t stream) const;
  /// mean_clock_hz() of the two readings, which must have been waited for.
  [[nodiscard]] CudaResult<double> mean_hz() const;

 private:
  const HelperKernels* kernels_ = nullptr;
  std::size_t sm_count_ = 0;
  DeviceBuffer readings_;  ///< those before the work, then those after it
};

/// One piece of a load's lead-in.
struct SettlingPoint {
  double end_s = 0;         ///< GPU time since the lead-in's first launch
  double per_launch_s = 0;  ///< mean over the piece
};

/// When a load has run for so long that the GPU's clock no longer moves. At the power cap the clock follows the power
/// of the last tenth of a second: a sample that begins earlier runs at the clock that its predecessor earned.
/// docs/results/power-cap-*.csv hold the curves that these come from.
struct SettlingRule {
  /// Pieces and the window suit `least_s`: a tenth of a second of lead-in has only tenths of that to compare.
  explicit SettlingRule(double lead_in_s)
      : least_s(lead_in_s), most_s(lead_in_s + 0.7), window_s(std::min(0.2, lead_in_s / 2)) {}

  /// The rule for a load that follows `idle_s` of no load. An idle GPU saves up for the cap, which holds a mean over
  /// seconds: what comes next runs 1 to 3 % too fast for two of them, however short the pause was.
  [[nodiscard]] SettlingRule after(double idle_s) const {
    SettlingRule rule = *this;
    if (idle_s < kIdle_s) return rule;
    rule.least_s = std::max(least_s, kLeadInAfterIdling_s);
    rule.most_s = rule.least_s + (most_s - least_s);
    return rule;
  }

  static constexpr double kIdle_s =
      50e-3;  ///< twice what lies between the rounds of a stage, half of what was measured

  double piece_s = 10e-3;  ///< length of a piece
  double least_s;          ///< no load counts as settled before
  double most_s;           ///< every load does after
  double window_s;         ///< its two halves are compared
  double steady = 0.003;   ///< and may differ by this, relative
};

/// Whether the time of a launch has stopped moving at the last of `points`, which are in the order of time. Pure.
[[nodiscard]] bool has_settled(std::span<const SettlingPoint> points, const SettlingRule& rule);

/// The NVML values that a sample records.
enum class Watch {
  kTemperature,
  kThrottling,  ///< temperature too; costs the pause after the sample about 1 ms, and means little for a short sample
  kPower,       ///< throttling too; reads the energy counter all the time, for long samples
};

/// The host's monotonic time in seconds.
using HostClock = std::function<double()>;

class SampleTimer {
 public:
  /// `kernels` must outlive the timer.
  [[nodiscard]] static CudaResult<std::unique_ptr<SampleTimer>> create(const HelperKernels& kernels, int sm_count,
                                                                       Telemetry telemetry);
  /// With another meter of the SM clock, or none, and another host's time.
  [[nodiscard]] static CudaResult<std::unique_ptr<SampleTimer>> create(ClockMeter clock, Telemetry telemetry,
                                                                       HostClock host_s);

  /// Runs `lead_in` untimed launches, then at least `launches` timed ones, and waits for them. Of a series that
  /// restores its copies in between only the launches count, and no power is said of it. Fills everything of the sample
  /// but its stage, round and position. A launch-bound sample, for whose launches the GPU waited one by one (it had 128
  /// of them left at most somewhere after the first 512, or two when the last one was enqueued), is void and timed
  /// again: a busy host is late once. After a second one the series' mode has graphs, and the series is captured;
  /// others of that mode follow when they are told (LaunchSeries::follow_mode()).
  [[nodiscard]] CudaResult<Sample> time(LaunchSeries& series, std::int64_t launches, std::int64_t lead_in = 0,
                                        Watch watch = Watch::kTemperature);

  /// Runs the series until it has settled by `rule`, after idling by what that says of it (whatever ran since the last
  /// settled sample counts as idling), then times at least `sample_s` of it without a gap, and watches
  /// throttling and power. `per_launch_s`: about what a launch takes, for the lead-in's pieces. The sample says how
  /// long its lead-in was. A launch-bound sample as in time().
  [[nodiscard]] CudaResult<Sample> time_settled(LaunchSeries& series, double per_launch_s, double sample_s,
                                                const SettlingRule& rule);
  /// The lead-in of the last settled sample, piece by piece.
  [[nodiscard]] const std::vector<SettlingPoint>& settling() const { return settling_; }

 private:
  /// Enqueues the untimed work before a sample, and returns the number of launches to time after it.
  using LeadIn = std::function<CudaResult<std::int64_t>()>;
  struct Timed {
    Sample sample;
    bool launch_bound = false;
    std::optional<ThrottleTimes> throttled;  ///< counters at the sample's beginning, or right after it was enqueued
    std::unique_ptr<SampleWatch> watch;
    StretchTimer stretches;  ///< of a series whose copies are restored in between
  };

  SampleTimer(ClockMeter clock, Telemetry telemetry, HostClock host_s)
      : clock_(std::move(clock)), telemetry_(std::move(telemetry)), host_s_(std::move(host_s)) {}
  [[nodiscard]] CudaResult<Timed> run(LaunchSeries& series, Watch watch, const LeadIn& lead_in);
  /// run() until a sample is not launch-bound, as time() says.
  [[nodiscard]] CudaResult<Sample> run_unless_launch_bound(LaunchSeries& series, Watch watch, const LeadIn& lead_in);
  /// Enqueues pieces of `launches` and waits for them until they have settled; the last ones are still running then.
  /// Returns what a launch takes then, in seconds.
  [[nodiscard]] CudaResult<double> settle(LaunchSeries& series, std::int64_t launches, const SettlingRule& rule);
  /// Enqueues the timed launches and, in between where they are many, reads the throttle counters of a sample that has
  /// no watch. Says whether the sample is launch-bound.
  [[nodiscard]] CudaResult<> enqueue(LaunchSeries& series, std::int64_t launches, Watch watch, Timed& timed);

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
