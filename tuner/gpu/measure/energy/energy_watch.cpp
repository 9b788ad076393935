// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/energy/energy_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>

#include "tuner/gpu/measure/telemetry.hpp"
#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::size_t kCalibrationPeriods = 5;
constexpr double kMinSteps = 10;       // fewer, and one odd step decides the mean
constexpr double kStuck_s = 3;         // an H200's counter moves every 100 ms, idle or not
constexpr double kPatienceSteps = 50;  // for a step that was caught well enough
constexpr double kMargin = 1.2;        // the window that is recommended must not be refused in turn

constexpr double kShortestPoll_s = 1e-3;  // a faster reading than an H200's would only occupy the host
constexpr double kAveraged_s = 1;         // what the averaged power looks back on
constexpr int kFirstReadings = 5;         // some drivers refuse one reading and answer the next
constexpr double kBetweenFirstReadings_s = 50e-3;

Result<void> check_request(const protocol::EnergyRequest& request) {
  const bool fits = std::isfinite(request.window_s) && request.window_s > 0 && std::isfinite(request.lead_in_s) &&
                    request.lead_in_s >= 0 && request.max_uncertainty > 0 && request.max_uncertainty < 1;
  if (fits) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("an energy window of {:g} s after {:g} s with an uncertainty of {:g} makes no sense: the "
                          "window must be longer than 0 s, the lead-in not negative, the uncertainty between 0 and 1",
                          request.window_s, request.lead_in_s, request.max_uncertainty));
}

/// Sensor values other than the counter's edges.
struct Edge {
  double time_s = 0;  ///< of the throttle times
  ThrottleTimes throttle;
  std::optional<double> temperature_c;
};

Edge read_edge(const EnergySensors& sensors) {
  Edge edge;
  const double before_s = sensors.now_s();
  edge.throttle = sensors.throttle_times();
  edge.time_s = (before_s + sensors.now_s()) / 2;
  edge.temperature_c = sensors.temperature_c();
  return edge;
}

std::optional<double> share(std::optional<double> counted, double of_s) {
  if (!counted || of_s <= 0) return std::nullopt;
  return std::min(1.0, *counted / of_s);
}

EnergyWindow window_of(const EnergyTracker& tracker, const Edge& first, const Edge& last,
                       const std::vector<double>& powers_w) {
  EnergyWindow window;
  window.window_s = tracker.end()->time_s - tracker.start()->time_s;
  window.energy_j = tracker.end()->energy_j - tracker.start()->energy_j;
  window.steps = tracker.steps();
  window.step_s = window.window_s / static_cast<double>(window.steps);
  window.uncertainty = tracker.uncertainty(*tracker.end());
  for (const double power_w : powers_w) window.averaged_power_w += power_w / static_cast<double>(powers_w.size());
  // Over the time between the two readings of these counters, which come a little after the energy's.
  const double between_s = last.time_s - first.time_s;
  window.power_cap_share = share(counted_s(first.throttle.power_cap_s, last.throttle.power_cap_s), between_s);
  window.thermal_share = share(counted_s(first.throttle.thermal_s, last.throttle.thermal_s), between_s);
  window.temperature_start_c = first.temperature_c.value_or(0);
  window.temperature_end_c = last.temperature_c.value_or(0);
  return window;
}

bool has_counter(const EnergySensors& sensors) {
  for (int i = 0; i < kFirstReadings; ++i) {
    if (i > 0) sensors.sleep_s(kBetweenFirstReadings_s);
    if (sensors.energy_j()) return true;
  }
  return false;
}

}  // namespace

EnergyTracker::EnergyTracker(const protocol::EnergyRequest& request, double now_s)
    : lead_in_s_(request.lead_in_s),
      window_s_(request.window_s),
      max_uncertainty_(request.max_uncertainty),
      begin_s_(now_s),
      last_change_s_(now_s) {}

Result<EnergyTracker::Signal> EnergyTracker::add(const EnergyReading& sample) {
  const bool moved = sample.energy_j && last_ && *sample.energy_j != *last_->energy_j;
  if (moved && *sample.energy_j < *last_->energy_j) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("the GPU's energy counter went backwards, from {:.3f} J to {:.3f} J: it wrapped, or the "
                            "driver was loaded anew; measure again",
                            *last_->energy_j, *sample.energy_j));
  }
  if (!moved) {
    if (sample.energy_j) last_ = sample;
    if (sample.time_s - last_change_s_ <= kStuck_s) return Signal::kNone;
    return fail(ErrorKind::kEnvironment,
                fmt::format("the GPU's energy counter has not moved for {} s, so there is no energy to measure; check "
                            "with nvidia-smi whether this GPU reports its power",
                            kStuck_s));
  }
  const EnergyStep step{(last_->time_s + sample.time_s) / 2, sample.time_s - last_->time_s, *sample.energy_j};
  last_ = sample;
  last_change_s_ = sample.time_s;
  return start_ ? inside_window(step) : before_window(step);
}

Result<EnergyTracker::Signal> EnergyTracker::before_window(const EnergyStep& step) {
  if (previous_) periods_s_.push_back(step.time_s - previous_->time_s);
  gaps_s_.push_back(step.gap_s);
  previous_ = step;
  if (step.time_s - begin_s_ < lead_in_s_ || periods_s_.size() < kCalibrationPeriods) return Signal::kStep;
  period_s_ = middle_of(periods_s_);
  gap_s_ = middle_of(gaps_s_);
  if (window_s_ < shortest_window_s()) return too_short();
  // Each edge gets half of the window's permitted error. An edge in a slow reading is skipped.
  if (step.gap_s <= max_uncertainty_ * window_s_ / 2) {
    start_ = step;
    return Signal::kStarted;
  }
  const bool patient = static_cast<double>(periods_s_.size()) < lead_in_s_ / period_s_ + kPatienceSteps;
  if (patient) return Signal::kStep;
  return too_short();
}

Result<EnergyTracker::Signal> EnergyTracker::inside_window(const EnergyStep& step) {
  const double since_s = step.time_s - previous_->time_s;
  steps_ += std::max<std::int64_t>(1, std::llround(since_s / period_s_));
  previous_ = step;
  const double length_s = step.time_s - start_->time_s;
  if (length_s < window_s_) return Signal::kStep;
  if (uncertainty(step) <= max_uncertainty_) {
    end_ = step;
    return Signal::kEnded;
  }
  if (length_s < window_s_ + kPatienceSteps * period_s_) return Signal::kStep;
  gap_s_ = std::max(gap_s_, step.gap_s);
  return too_short();
}

double EnergyTracker::uncertainty(const EnergyStep& step) const {
  return (start_->gap_s + step.gap_s) / (step.time_s - start_->time_s);
}

double EnergyTracker::shortest_window_s() const {
  return std::max(2 * gap_s_ / max_uncertainty_, kMinSteps * period_s_);
}

tl::unexpected<Error> EnergyTracker::too_short() const {
  const double would_do_s = std::ceil(kMargin * shortest_window_s() * 10) / 10;
  return fail(ErrorKind::kUsage,
              fmt::format("an energy window of {:g} s is too short: this GPU's energy counter moves every {:.0f} ms, a "
                          "step is caught to {:.1f} ms, and the window must hold {:g} steps and be certain to {:g} %; "
                          "{:g} s would do",
                          window_s_, period_s_ * 1e3, gap_s_ * 1e3, kMinSteps, max_uncertainty_ * 100, would_do_s));
}

EnergySensors EnergySensors::of(const NvmlDevice& device) {
  return {.now_s =
              [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); },
          .sleep_s = [](double time_s) { std::this_thread::sleep_for(std::chrono::duration<double>(time_s)); },
          .energy_j = [device] { return device.energy_j(); },
          .averaged_power_w = [device] { return device.averaged_power_w(); },
          .temperature_c = [device] { return device.temperature_c(); },
          .throttle_times = [device] { return device.throttle_times(); }};
}

tl::unexpected<Error> no_energy_counter(const std::string& why) {
  return fail(ErrorKind::kEnvironment,
              fmt::format("this GPU or its driver has no energy counter: {}; timing works without, energy needs an "
                          "NVIDIA GPU of the Volta generation or newer whose NVML this process may use",
                          why));
}

Result<WatchedEnergy> watch_energy(const protocol::EnergyRequest& request, const EnergySensors& sensors,
                                   const EnergyListener& listener) {
  using Signal = EnergyTracker::Signal;
  TRY(check_request(request));
  if (!has_counter(sensors)) return no_energy_counter("NVML does not read it");
  EnergyTracker tracker(request, sensors.now_s());
  Edge first;
  std::vector<double> powers_w;
  while (true) {
    const double before_s = sensors.now_s();
    const auto energy_j = sensors.energy_j();
    const double after_s = sensors.now_s();
    TRY_ASSIGN(const auto signal, tracker.add({(before_s + after_s) / 2, energy_j}));
    TRY(listener(signal));
    // Right after a step the next one is far: whatever else is read now does not blur an edge.
    if (signal == Signal::kStarted) first = read_edge(sensors);
    const bool inside = tracker.start() && signal != Signal::kNone;
    if (inside && after_s - tracker.start()->time_s >= kAveraged_s) {
      if (const auto power_w = sensors.averaged_power_w()) powers_w.push_back(*power_w);
    }
    if (signal == Signal::kEnded) break;
    if (after_s - before_s < kShortestPoll_s) sensors.sleep_s(kShortestPoll_s - (after_s - before_s));
  }
  return WatchedEnergy{window_of(tracker, first, read_edge(sensors), powers_w), tracker.start()->time_s,
                       tracker.end()->time_s};
}

}  // namespace pgtune::gpu
