// SPDX-License-Identifier: MIT
// Watches the GPU's power sensors over one energy window, independent of the load. Clock and sensors are injected. The
// energy counter changes in steps and says nothing between them, so a window starts and ends at a step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// One reading of the counter.
struct EnergyReading {
  double time_s = 0;               ///< middle of the reading, on the host's clock
  std::optional<double> energy_j;  ///< nothing if the reading failed
};

/// A step of the counter, seen between two readings.
struct EnergyStep {
  double time_s = 0;    ///< middle between the two readings
  double gap_s = 0;     ///< from one reading to the other: how exactly the time is known
  double energy_j = 0;  ///< the counter after the step
};

/// Finds a window in readings of the counter. Pure: fed with readings and their times.
class EnergyTracker {
 public:
  enum class Signal {
    kNone,
    kStep,     ///< the counter moved
    kStarted,  ///< the lead-in is over and this step starts the window
    kEnded,    ///< this step ends the window
  };

  /// Watches from `now_s` on. The lead-in also tells how often the counter moves, and is as long as that takes.
  EnergyTracker(const protocol::EnergyRequest& request, double now_s);

  /// Takes the next reading. Errors: usage where the window is too short for what was asked, with the length that would
  /// do; environment where the counter stands still or goes backwards. Call no more after kEnded or an error.
  [[nodiscard]] Result<Signal> add(const EnergyReading& sample);

  /// The steps that bound the window; empty before they were seen.
  [[nodiscard]] const std::optional<EnergyStep>& start() const { return start_; }
  [[nodiscard]] const std::optional<EnergyStep>& end() const { return end_; }
  /// Steps of the counter from start() to the last one seen, those between two readings included.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Of the energy from start() to `step`. Both edges are wrong by less than their gap: by half the gap, and by half of
  /// the reading on either side of it.
  [[nodiscard]] double uncertainty(const EnergyStep& step) const;

 private:
  [[nodiscard]] Result<Signal> before_window(const EnergyStep& step);
  [[nodiscard]] Result<Signal> inside_window(const EnergyStep& step);
  [[nodiscard]] double shortest_window_s() const;
  [[nodiscard]] tl::unexpected<Error> too_short() const;

  double lead_in_s_, window_s_, max_uncertainty_;
  double begin_s_;
  double last_change_s_;  ///< when the counter was last seen to move
  std::optional<EnergyReading> last_;
  std::optional<EnergyStep> previous_;      ///< the last step seen
  std::vector<double> periods_s_, gaps_s_;  ///< of the steps before the window
  double period_s_ = 0, gap_s_ = 0;         ///< their medians
  std::optional<EnergyStep> start_, end_;
  std::int64_t steps_ = 0;
};

/// The host's clock and NvmlDevice's readings. All must be set.
struct EnergySensors {
  std::function<double()> now_s;  ///< seconds since any fixed instant; never goes back
  std::function<void(double)> sleep_s;
  std::function<std::optional<double>()> energy_j, averaged_power_w, temperature_c;
  std::function<ThrottleTimes()> throttle_times;

  [[nodiscard]] static EnergySensors of(const NvmlDevice& device);
};

struct WatchedEnergy {
  EnergyWindow window;            ///< without the load's data: launches, their time and clock
  double start_s = 0, end_s = 0;  ///< of the window, on the sensors' clock
};

/// Receives every reading before anything else is read; an error ends the watch.
using EnergyListener = std::function<Result<void>(EnergyTracker::Signal)>;

/// Waits for the request's lead-in, then for its window; the caller runs the contender. Errors: as
/// EnergyTracker::add(); environment where the GPU has no energy counter; usage where a duration or uncertainty makes
/// no sense; the listener's.
[[nodiscard]] Result<WatchedEnergy> watch_energy(const protocol::EnergyRequest& request, const EnergySensors& sensors,
                                                 const EnergyListener& listener);

/// "this GPU or its driver has no energy counter: <why>; ..." (environment).
[[nodiscard]] tl::unexpected<Error> no_energy_counter(const std::string& why);

}  // namespace pgtune::gpu
