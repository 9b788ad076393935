// SPDX-License-Identifier: MIT
// A scripted device that lives in virtual time and records what it was asked to do.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/power_model.hpp"
#include "tuner/device/device.hpp"

namespace pgtune::session {

/// What becomes of one variant.
struct Script {
  Outcome build, trial;
  double time_s = 1e-3;  ///< per launch, before noise
  double build_s = 0;    ///< virtual seconds
  std::int64_t spill_bytes = 0;
  std::string cubin = {};  ///< hash of the machine code; empty: one of its own
  Outcome verified = {};
  bool deterministic = true;
  int fails_in_round = 0;  ///< of `fails_in`; 0: never
  Stage fails_in = Stage::kFinal;
};

/// A variant's key, or "ref1" for the baseline's second algorithm.
[[nodiscard]] std::string contender_name(const Contender& contender);
/// A GPU at its power limit: a sample's time depends on the previous contender.
struct PoweredGpu {
  support::PowerModel model;
  /// Of a variant by its key, of a baseline algorithm by "ref0" and so on.
  std::function<support::PowerLoad(const std::string&)> load;
  double lead_in_s = 1e-3;    ///< before every sample of a round
  double screening_s = 5e-3;  ///< of every sample of a trial
};

/// Finishes everything at the virtual moment its script says, earliest first. Noise is a fixed function of variant,
/// stage, round and position, evenly within +-noise / 2.
class FakeDevice final : public device::Device {
 public:
  using Plan = std::function<Script(const Variant&)>;
  explicit FakeDevice(Plan plan);

  DeviceInfo device_info;
  BaselineReport baseline;  ///< algorithm i runs in baseline.algorithms[i].time_s
  std::size_t slots = 4;
  double trial_s = 0.01, round_s = 0.1;  ///< virtual seconds
  double noise = 0.001;
  double drift_per_round = 0;  ///< relative slowdown of everything
  /// Where given, samples come from it, and neither from scripts' times nor with this device's noise and drift; rounds
  /// then last as long as their samples with lead-ins.
  std::optional<PoweredGpu> powered;
  std::function<void()> after_trial;
  std::function<void(const protocol::BuildRequest&)> sees_build;
  /// Sees each round after it was measured and may change it: heat, jumping clocks, outliers.
  std::function<void(const protocol::RoundRequest&, protocol::RoundReport&)> spoil;
  std::function<void(Stage)> after_round;
  std::size_t dies_after_trials = 0;  ///< 0: never
  /// Window of a request; unset: there is no energy counter. Lead-in and window pass in virtual time.
  std::function<Result<EnergyWindow>(const protocol::EnergyRequest&)> energy;

  double now_s = 0;
  int prepared = 0;
  protocol::PrepareRequest prepare_request;  ///< the last
  std::vector<std::string> builds, trials;   ///< keys in order of submission
  std::vector<double> incumbents_s;          ///< beside `trials`
  std::size_t most_building = 0, most_ready = 0;
  using Names = std::vector<std::string>;
  /// Contenders' names in their order, "ref0" for a baseline; warm-up rounds have only one.
  std::map<Stage, std::vector<Names>> rounds;
  std::map<Stage, double> sample_s;  ///< asked for, the last of each stage
  std::vector<protocol::VerifyRequest> verify_requests;
  std::vector<protocol::RowsRequest> rows_requests;
  std::string wrong_rows;  ///< RowsReport::wrong
  int ceilings_measured = 0;
  std::function<OtherProcesses()> others;  ///< unset: no other processes
  std::vector<ClockBeside> beside;
  std::vector<protocol::EnergyRequest> energy_requests;

  [[nodiscard]] const DeviceInfo& info() const override { return device_info; }
  [[nodiscard]] Result<BaselineReport> prepare(const protocol::PrepareRequest& request) override;
  [[nodiscard]] std::size_t build_slots() const override { return slots; }
  void submit_build(protocol::BuildRequest request) override;
  void submit_trial(protocol::TrialRequest request) override;
  [[nodiscard]] Result<std::vector<protocol::Event>> wait(std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<protocol::RoundReport> run_round(const protocol::RoundRequest& request) override;
  [[nodiscard]] Result<protocol::VerifyReport> verify(const protocol::VerifyRequest& request) override;
  [[nodiscard]] Result<protocol::RowsReport> compare_rows(const protocol::RowsRequest& request) override;
  [[nodiscard]] Result<EnergyWindow> measure_energy(const protocol::EnergyRequest& request) override;
  [[nodiscard]] Result<Ceilings> measure_ceilings() override;
  [[nodiscard]] OtherProcesses other_processes() override { return others ? others() : OtherProcesses{}; }
  [[nodiscard]] std::vector<ClockBeside> clocks_beside() const override { return beside; }

 private:
  [[nodiscard]] protocol::Event finish_build(const protocol::BuildRequest& request);
  [[nodiscard]] Sample powered_sample(const std::string& name, double lead_in_s, double timed_s);
  [[nodiscard]] protocol::Event finish_trial(const protocol::TrialRequest& request);

  Plan plan_;
  std::multimap<double, protocol::BuildRequest> building_;
  std::multimap<double, protocol::TrialRequest> trying_;
  std::size_t ready_ = 0;  ///< built and not yet tried
  double powered_w_ = 0;   ///< of the last powered sample
};

}  // namespace pgtune::session
