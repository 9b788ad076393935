// SPDX-License-Identifier: MIT
#include "pipeline/worker/pipeline_service.hpp"

#include <nlohmann/json.hpp>

namespace pgtune::worker {
Result<nlohmann::json> PipelineService::handle(const protocol::Request& request) {
  gpu::PipelineRunner& runner = *runner_;
  if (request.op == "prepare")
    return answer_to<protocol::PipelinePrepare>(request, [&](const auto& body) { return runner.prepare(body); });
  if (request.op == "rates") return as_body(runner.rates());
  if (request.op == "kernels")
    return answer_to<protocol::ChunkTimesAsked>(request, [&](const auto& body) { return runner.kernels(body); });
  if (request.op == "settled")
    return answer_to<protocol::SettledKernelAsked>(request, [&](const auto& body) { return runner.settled(body); });
  if (request.op == "trial")
    return answer_to<protocol::PipelineTrial>(request, [&](const auto& body) { return runner.trial(body); });
  if (request.op == "round")
    return answer_to<protocol::PipelineRound>(request, [&](const auto& body) { return runner.round(body); });
  if (request.op == "steps")
    return answer_to<protocol::PipelineTrial>(request, [&](const auto& body) { return runner.steps(body); });
  if (request.op == "trace")
    return answer_to<protocol::PipelineTraceAsked>(request, [&](const auto& body) { return runner.trace(body); });
  return unknown_operation(request);
}

}  // namespace pgtune::worker
