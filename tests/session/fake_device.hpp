// SPDX-License-Identifier: MIT
// A scripted device that lives in virtual time and records what it was asked to do.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tuner/device/device.hpp"

namespace pgtune::session {

/// What becomes of one variant.
struct Script {
  Outcome build, trial;
  double time_s = 1e-3;  ///< per launch, before noise
  double build_s = 0;    ///< virtual seconds
  std::int64_t spill_bytes = 0;
  int fails_in_round = 0;  ///< 0: never
};

/// Finishes everything at the virtual moment its script says, earliest first. Noise is a fixed function of variant,
/// round and position, within +-0.05 %.
class FakeDevice final : public device::Device {
 public:
  using Plan = std::function<Script(const Variant&)>;
  explicit FakeDevice(Plan plan);

  DeviceInfo device_info;
  ReferenceReport reference;  ///< algorithm i runs in reference.algorithms[i].time_s
  std::size_t slots = 4;
  double trial_s = 0.01, round_s = 0.1;  ///< virtual seconds
  double drift_per_round = 0;            ///< relative slowdown of everything
  std::function<void()> after_trial, after_round;
  std::size_t dies_after_trials = 0;  ///< 0: never

  double now_s = 0;
  int prepared = 0;
  std::vector<std::string> builds, trials;  ///< keys in order of submission
  std::vector<double> incumbents_s;         ///< beside `trials`
  std::size_t most_building = 0, most_ready = 0;
  std::vector<std::vector<std::string>> rounds;  ///< contenders' names in their order; "ref0" for a reference

  [[nodiscard]] const DeviceInfo& info() const override { return device_info; }
  [[nodiscard]] std::string source() const override { return "gpu"; }
  [[nodiscard]] Result<ReferenceReport> prepare(const Problem& problem) override;
  [[nodiscard]] std::size_t build_slots() const override { return slots; }
  void submit_build(device::BuildRequest request) override;
  void submit_trial(device::TrialRequest request) override;
  [[nodiscard]] Result<std::vector<device::Event>> wait(std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<device::RoundReport> run_round(const device::RoundRequest& request) override;

 private:
  [[nodiscard]] device::Event finish_build(const device::BuildRequest& request);
  [[nodiscard]] device::Event finish_trial(const device::TrialRequest& request);

  Plan plan_;
  std::multimap<double, device::BuildRequest> building_;
  std::multimap<double, device::TrialRequest> trying_;
  std::size_t ready_ = 0;  ///< built and not yet tried
};

}  // namespace pgtune::session
