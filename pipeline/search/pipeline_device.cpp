// SPDX-License-Identifier: MIT
#include "pipeline/search/pipeline_device.hpp"

namespace pgtune::device {

Result<std::unique_ptr<WorkerPipelineDevice>> WorkerPipelineDevice::open(const Options& options) {
  TRY_ASSIGN(auto worker, RoleWorker::open("pipeline", options));
  return std::unique_ptr<WorkerPipelineDevice>(new WorkerPipelineDevice(std::move(worker)));
}

Result<pipeline::Prepared> WorkerPipelineDevice::prepare(const protocol::PipelinePrepare& request) {
  return worker_.prepare<pipeline::Prepared>(request, "prepared pipeline");
}

template <typename T>
Result<T> WorkerPipelineDevice::ask(const std::string& op, nlohmann::json body) {
  TRY_ASSIGN(auto answer, worker_.call(op, std::move(body)));
  if (!answer.body) return fail(ErrorKind::kInternal, answer.body.error().reason);
  return protocol::decode_body<T>(*answer.body, op);
}

Result<pipeline::CopyRates> WorkerPipelineDevice::rates() {
  return ask<pipeline::CopyRates>("rates", nlohmann::json::object());
}

Result<protocol::ChunkTimesReport> WorkerPipelineDevice::kernels(const protocol::ChunkTimesAsked& request) {
  return ask<protocol::ChunkTimesReport>("kernels", request);
}

Result<pipeline::SettledKernel> WorkerPipelineDevice::settled(const protocol::SettledKernelAsked& request) {
  return ask<pipeline::SettledKernel>("settled", request);
}

Result<pipeline::TrialResult> WorkerPipelineDevice::trial(const protocol::PipelineTrial& request) {
  TRY_ASSIGN(auto answer, worker_.call("trial", request));
  if (!answer.body) return pipeline::TrialResult{.outcome = answer.body.error(), .check = {}, .samples = {}};
  return protocol::decode_body<pipeline::TrialResult>(*answer.body, "trial");
}

Result<protocol::PipelineRoundReport> WorkerPipelineDevice::round(const protocol::PipelineRound& request) {
  const std::size_t count = request.candidates.size();
  TRY_ASSIGN(auto answer, worker_.call("round", request));
  if (answer.body) {
    auto report = protocol::decode_body<protocol::PipelineRoundReport>(*answer.body, "round");
    if (report && (report->samples.size() != count || report->outcomes.size() != count))
      return fail(ErrorKind::kInternal, "malformed round report: not one sample and outcome for each candidate");
    return report;
  }
  protocol::PipelineRoundReport report{std::vector<std::optional<pipeline::RunSample>>(count),
                                       std::vector<Outcome>(count, answer.body.error())};
  if (count == 1) return report;
  // One of the candidates ended the worker: run each alone to find it.
  for (const int index : request.order) {
    const auto place = static_cast<std::size_t>(index);
    protocol::PipelineRound alone = request;
    alone.candidates = {request.candidates[place]};
    alone.order = {0};
    auto single = round(alone);
    if (!single) return single;
    report.samples[place] = single->samples.front();
    report.outcomes[place] = single->outcomes.front();
  }
  return report;
}

Result<pipeline::StepTimes> WorkerPipelineDevice::steps(const pipeline::Candidate& candidate) {
  return ask<pipeline::StepTimes>("steps", protocol::PipelineTrial{.candidate = candidate});
}

Result<pipeline::Timeline> WorkerPipelineDevice::trace(const pipeline::Candidate& candidate) {
  TRY_ASSIGN(auto answer, worker_.call("trace", protocol::PipelineTraceAsked{candidate, true}));
  if (answer.body) return protocol::decode_body<pipeline::Timeline>(*answer.body, "trace");
  // Only this run records, so recording may have ended the worker.
  auto timeline = ask<pipeline::Timeline>("trace", protocol::PipelineTraceAsked{candidate, false});
  if (timeline) timeline->reason = "the run that was to be recorded failed: " + answer.body.error().reason;
  return timeline;
}

}  // namespace pgtune::device
