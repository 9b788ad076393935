// SPDX-License-Identifier: MIT
// A recorded search for a pipeline as a device: what was not recorded gets kNotRecorded or an error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/device/pipeline_device.hpp"

namespace pgtune::device {

/// What a stored search left.
struct PipelineRecording {
  std::string origin;  ///< for messages
  DeviceInfo device;
  pipeline::Prepared prepared;
  pipeline::CopyRates rates;
  std::vector<pipeline::ChunkTime> chunk_times;
  std::optional<pipeline::SettledKernel> settled;
  std::map<std::string, pipeline::TrialResult> trials;             ///< by Candidate::key()
  std::map<std::string, std::vector<pipeline::RunSample>> rounds;  ///< by Candidate::key()
  std::string best;                                                ///< the key whose steps and timeline these are
  std::optional<pipeline::StepTimes> steps;
  std::optional<pipeline::Timeline> timeline;
};

class ReplayPipelineDevice final : public PipelineDevice {
 public:
  explicit ReplayPipelineDevice(PipelineRecording recording) : recording_(std::move(recording)) {}

  [[nodiscard]] const DeviceInfo& info() const override { return recording_.device; }
  [[nodiscard]] Source source() const override { return Source::kReplay; }
  [[nodiscard]] Result<pipeline::Prepared> prepare(const protocol::PipelinePrepare& request) override;
  [[nodiscard]] Result<pipeline::CopyRates> rates() override { return recording_.rates; }
  [[nodiscard]] Result<protocol::ChunkTimesReport> kernels(const protocol::ChunkTimesAsked& request) override;
  [[nodiscard]] Result<pipeline::SettledKernel> settled(const protocol::SettledKernelAsked& request) override;
  [[nodiscard]] Result<pipeline::TrialResult> trial(const protocol::PipelineTrial& request) override;
  [[nodiscard]] Result<protocol::PipelineRoundReport> round(const protocol::PipelineRound& request) override;
  [[nodiscard]] Result<pipeline::StepTimes> steps(const pipeline::Candidate& candidate) override;
  [[nodiscard]] Result<pipeline::Timeline> trace(const pipeline::Candidate& candidate) override;

 private:
  PipelineRecording recording_;
};

}  // namespace pgtune::device
