// SPDX-License-Identifier: MIT
#include "pipeline/worker/pipeline_service.hpp"

#include <nlohmann/json.hpp>

namespace pgtune::worker {
Result<nlohmann::json> PipelineService::handle(const protocol::Request& request) {
  const nlohmann::json& body = request.body;
  if (request.op == "prepare") return as_body(runner_->prepare(body.get<protocol::PipelinePrepare>()));
  if (request.op == "rates") return as_body(runner_->rates());
  if (request.op == "kernels") return as_body(runner_->kernels(body.get<protocol::ChunkTimesAsked>()));
  if (request.op == "settled") return as_body(runner_->settled(body.get<protocol::SettledKernelAsked>()));
  if (request.op == "trial") return as_body(runner_->trial(body.get<protocol::PipelineTrial>()));
  if (request.op == "round") return as_body(runner_->round(body.get<protocol::PipelineRound>()));
  if (request.op == "steps") return as_body(runner_->steps(body.get<protocol::PipelineTrial>()));
  if (request.op == "trace") return as_body(runner_->trace(body.get<protocol::PipelineTraceAsked>()));
  return unknown_operation(request);
}

}  // namespace pgtune::worker
