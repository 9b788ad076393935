// SPDX-License-Identifier: MIT
// NVML's values for a sample: temperature, and the time during which the driver reduced the clocks. If NVML, GPU or
// field is missing, nothing is recorded; that is never a failure.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::gpu {

/// Difference of a counter; nothing where one reading is missing, 0 where the counter went backwards (it starts anew
/// with the driver).
[[nodiscard]] std::optional<double> counted_s(std::optional<double> before_s, std::optional<double> after_s);

/// Mean power between the first and the last step of an energy counter, whatever its step is: the counter stands still
/// in between, so that only the instants of its steps say how much was drawn by when. A step counts where the reading
/// before it was 5 ms earlier at most: one that is seen late would make the time between steps too short.
class CounterPower {
 public:
  /// A reading; `now_s` on any clock that never goes back.
  void add(double now_s, double energy_j);
  /// Nothing if the observed steps are too close together.
  [[nodiscard]] std::optional<double> power_w() const;

 private:
  struct Reading {
    double at_s, energy_j;
  };
  std::optional<Reading> last_, first_step_, last_step_;
};

/// Reads a GPU's counters while a long sample runs, in a thread of its own: the one that enqueues launches waits for
/// places in the stream's queue, at times for longer than an instant of the energy counter has to be known to.
class SampleWatch {
 public:
  struct Seen {
    ThrottleTimes throttled_before;  ///< when the watch began
    std::optional<double> power_w;   ///< see CounterPower
  };

  /// Begins at once.
  explicit SampleWatch(NvmlDevice device);
  /// The readings until now; waits for the current reading, of about 3 ms, which does not count.
  [[nodiscard]] Seen end();

 private:
  void read(const std::stop_token& ended);

  NvmlDevice device_;
  ThrottleTimes throttled_before_;
  CounterPower power_;
  std::jthread thread_;  ///< the last member: it reads the others
};

class Telemetry {
 public:
  /// Records nothing.
  Telemetry() = default;
  explicit Telemetry(std::optional<NvmlDevice> device) : device_(std::move(device)) {}

  /// The counters now; about 1 ms.
  [[nodiscard]] ThrottleTimes throttle_times() const;
  /// A started watch; null if there is nothing to read.
  [[nodiscard]] std::unique_ptr<SampleWatch> watch() const;
  /// The sample's temperature, now; about 1 us.
  void record_temperature(Sample& sample) const;
  /// The sample's power_cap_s and thermal_s since `before`; about 1 ms.
  void record_throttling(const ThrottleTimes& before, Sample& sample) const;

 private:
  std::optional<NvmlDevice> device_;
};

}  // namespace pgtune::gpu
