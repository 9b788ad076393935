// SPDX-License-Identifier: MIT
#include "tuner/device/replay_pipeline_device.hpp"

#include <algorithm>

namespace pgtune::device {
namespace {

constexpr const char* kReason = "the recording does not hold it";

}  // namespace

Result<pipeline::Prepared> ReplayPipelineDevice::prepare(const protocol::PipelinePrepare& /*request*/) {
  return recording_.prepared;
}

Result<protocol::ChunkTimesReport> ReplayPipelineDevice::kernels(const protocol::ChunkTimesAsked& request) {
  protocol::ChunkTimesReport report;
  std::copy_if(recording_.chunk_times.begin(), recording_.chunk_times.end(), std::back_inserter(report.times),
               [&](const pipeline::ChunkTime& time) { return time.cut == request.cut; });
  return report;
}

Result<pipeline::SettledKernel> ReplayPipelineDevice::settled(const protocol::SettledKernelAsked& request) {
  const std::optional<pipeline::SettledKernel>& known = recording_.settled;
  if (known && known->cut == request.cut && known->extent == request.extent) return *known;
  return fail(ErrorKind::kEnvironment, kReason);
}

Result<pipeline::TrialResult> ReplayPipelineDevice::trial(const protocol::PipelineTrial& request) {
  const auto known = recording_.trials.find(request.candidate.key());
  if (known == recording_.trials.end())
    return pipeline::TrialResult{.outcome = {OutcomeKind::kNotRecorded, kReason}, .check = {}, .samples = {}};
  pipeline::TrialResult result = known->second;
  if (request.samples == 0) result.samples.clear();
  return result;
}

Result<protocol::PipelineRoundReport> ReplayPipelineDevice::round(const protocol::PipelineRound& request) {
  protocol::PipelineRoundReport report;
  for (const pipeline::Candidate& candidate : request.candidates) {
    auto& sample = report.samples.emplace_back();
    report.outcomes.push_back({OutcomeKind::kNotRecorded, kReason});
    const auto known = recording_.rounds.find(candidate.key());
    if (known == recording_.rounds.end()) continue;
    for (const pipeline::RunSample& recorded : known->second) {
      if (recorded.round != request.round || recorded.stage != request.stage) continue;
      sample = recorded;
      report.outcomes.back() = {};
    }
  }
  return report;
}

Result<pipeline::StepTimes> ReplayPipelineDevice::steps(const pipeline::Candidate& candidate) {
  if (recording_.steps && candidate.key() == recording_.best) return *recording_.steps;
  return fail(ErrorKind::kEnvironment, kReason);
}

Result<pipeline::Timeline> ReplayPipelineDevice::trace(const pipeline::Candidate& candidate) {
  if (recording_.timeline && candidate.key() == recording_.best) return *recording_.timeline;
  return fail(ErrorKind::kEnvironment, kReason);
}

}  // namespace pgtune::device
