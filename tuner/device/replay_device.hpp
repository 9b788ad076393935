// SPDX-License-Identifier: MIT
// A device that answers from a recording: no GPU, no worker, the same answers every time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/device/device.hpp"
#include "tuner/device/recorded_samples.hpp"
#include "tuner/device/recording.hpp"

namespace pgtune::device {

/// Every request is done when it is submitted; wait() never waits and returns events in the order of submission. What
/// the recording lacks gets kNotRecorded.
class ReplayDevice final : public Device {
 public:
  explicit ReplayDevice(Recording recording);

  [[nodiscard]] const DeviceInfo& info() const override { return recording_.device; }
  [[nodiscard]] Source source() const override { return Source::kReplay; }
  /// A problem that was not recorded, or was under other conditions, is a usage error that lists what was.
  [[nodiscard]] Result<BaselineReport> prepare(const protocol::PrepareRequest& request) override;
  [[nodiscard]] std::size_t build_slots() const override { return 64; }
  /// The recorded build; where none was recorded, the outcome that ended the variant before it had one.
  void submit_build(protocol::BuildRequest request) override;
  void submit_trial(protocol::TrialRequest request) override;
  [[nodiscard]] Result<std::vector<protocol::Event>> wait(std::chrono::milliseconds timeout) override;
  /// Samples are those of recorded_sample(); whoever has none in this round of this stage gets kNotRecorded.
  [[nodiscard]] Result<protocol::RoundReport> run_round(const protocol::RoundRequest& request) override;
  [[nodiscard]] std::vector<Variant> recorded_variants(const Problem& problem) const override;
  [[nodiscard]] std::optional<int> recorded_rounds(Stage stage) const override;
  [[nodiscard]] bool is_recorded(Stage stage, const Contender& contender) const override;
  /// kNotRecorded: a recording holds what came of a search, not whether its finalists were verified.
  [[nodiscard]] Result<protocol::VerifyReport> verify(const protocol::VerifyRequest& request) override;
  /// The recorded window request.index of the contender or of the idle GPU, whatever lengths are asked for. Errors
  /// (environment): it was not recorded.
  [[nodiscard]] Result<EnergyWindow> measure_energy(const protocol::EnergyRequest& request) override;
  /// Errors (environment): none were recorded.
  [[nodiscard]] Result<Ceilings> measure_ceilings() override;

 private:
  [[nodiscard]] const RecordedVariant* find(const Variant& variant) const;
  /// Null for a baseline algorithm too.
  [[nodiscard]] const RecordedVariant* find(const protocol::BuiltContender& contender) const;
  /// Samples of all stages of rounds; null where the contender was not recorded.
  [[nodiscard]] const std::vector<Sample>* rounds_of(const Contender& contender) const;
  /// Recorded windows of a contender or of the idle GPU; null where it was not recorded.
  [[nodiscard]] const std::vector<EnergyWindow>* energy_of(const protocol::EnergyRequest& request) const;
  [[nodiscard]] Outcome not_recorded(const std::string& what) const;

  const Recording recording_;
  const RecordedProblem* problem_ = nullptr;
  std::vector<protocol::Event> done_;
};

}  // namespace pgtune::device
