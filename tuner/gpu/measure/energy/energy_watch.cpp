// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/energy/energy_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "tuner/gpu/measure/telemetry.hpp"

namespace pgtune::gpu {
namespace {

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

/// What the sensors say beside the counter's edges.
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
  if (auto ok = check_request(request); !ok) return tl::unexpected(ok.error());
  if (!has_counter(sensors)) return no_energy_counter("NVML does not read it");
  EnergyTracker tracker(request, sensors.now_s());
  Edge first;
  std::vector<double> powers_w;
  while (true) {
    const double before_s = sensors.now_s();
    const auto energy_j = sensors.energy_j();
    const double after_s = sensors.now_s();
    const auto signal = tracker.add({(before_s + after_s) / 2, energy_j});
    if (!signal) return tl::unexpected(signal.error());
    if (auto ok = listener(*signal); !ok) return tl::unexpected(ok.error());
    // Right after a step the next one is far: whatever else is read now does not blur an edge.
    if (*signal == Signal::kStarted) first = read_edge(sensors);
    const bool inside = tracker.start() && *signal != Signal::kNone;
    if (inside && after_s - tracker.start()->time_s >= kAveraged_s) {
      if (const auto power_w = sensors.averaged_power_w()) powers_w.push_back(*power_w);
    }
    if (*signal == Signal::kEnded) break;
    if (after_s - before_s < kShortestPoll_s) sensors.sleep_s(kShortestPoll_s - (after_s - before_s));
  }
  return WatchedEnergy{window_of(tracker, first, read_edge(sensors), powers_w), tracker.start()->time_s,
                       tracker.end()->time_s};
}

}  // namespace pgtune::gpu
