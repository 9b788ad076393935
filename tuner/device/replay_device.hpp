// SPDX-License-Identifier: MIT
// A device that answers from a recording: no GPU, no worker, the same answers every time.
#pragma once

#include <string>
#include <vector>

#include "tuner/device/device.hpp"
#include "tuner/device/recording.hpp"

namespace pgtune::device {

/// Every request is done when it is submitted; wait() never waits and returns events in the order of submission. What
/// the recording lacks gets kNotRecorded.
class ReplayDevice final : public Device {
 public:
  explicit ReplayDevice(Recording recording);

  [[nodiscard]] const DeviceInfo& info() const override { return recording_.device; }
  [[nodiscard]] std::string source() const override { return "replay"; }
  /// A problem that was not recorded is a usage error that lists those that were.
  [[nodiscard]] Result<ReferenceReport> prepare(const Problem& problem) override;
  [[nodiscard]] std::size_t build_slots() const override { return 64; }
  /// The recorded build; where none was recorded, the outcome that ended the variant before it had one.
  void submit_build(BuildRequest request) override;
  void submit_trial(TrialRequest request) override;
  [[nodiscard]] Result<std::vector<Event>> wait(std::chrono::milliseconds timeout) override;
  /// A contender's block is the one recorded for this round, else one chosen by round modulo their number. Variants
  /// that were in no final answer with their screening blocks, and reference algorithms with their recorded time as a
  /// block of one launch.
  [[nodiscard]] Result<RoundReport> run_round(const RoundRequest& request) override;

 private:
  [[nodiscard]] const RecordedVariant* find(const Variant& variant) const;
  [[nodiscard]] std::vector<Block> blocks_of(const Contender& contender) const;
  [[nodiscard]] Outcome not_recorded(const std::string& what) const;

  Recording recording_;
  const RecordedProblem* problem_ = nullptr;
  std::vector<Event> done_;
};

}  // namespace pgtune::device
