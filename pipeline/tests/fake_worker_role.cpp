// SPDX-License-Identifier: MIT
// The pipeline role of the fake worker: the simulated machine. Keys for PGTUNE_FAKE: of a trial the candidate's, of a
// round all of its candidates', of trace "records" or "events". Behaviour "wrong" of a trial is a wrong result.
#include <memory>

#include "pipeline/tests/simulated_pipeline.hpp"
#include "tests/device/room_roles.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune::device::fake {
namespace {

using nlohmann::json;
using protocol::Request;

std::string key_of(const Request& request) {
  std::string keys;
  if (request.op == "trial") keys = request.body.get<protocol::PipelineTrial>().candidate.key();
  if (request.op == "round") {
    for (const auto& candidate : request.body.get<protocol::PipelineRound>().candidates) keys += candidate.key() + " ";
  }
  if (request.op == "trace") keys = request.body.get<protocol::PipelineTraceAsked>().records ? "records" : "events";
  return keys;
}

template <typename T>
Result<json> body_of(Result<T> result) {
  if (!result) return tl::unexpected<Error>(result.error());
  return json(*result);
}

Result<json> answer(const Request& request, const std::string& behaviour, test::SimulatedPipeline& machine) {
  if (request.op == "prepare") return body_of(machine.prepare(request.body.get<protocol::PipelinePrepare>()));
  if (request.op == "rates") return body_of(machine.rates());
  if (request.op == "kernels") return body_of(machine.kernels(request.body.get<protocol::ChunkTimesAsked>()));
  if (request.op == "settled") return body_of(machine.settled(request.body.get<protocol::SettledKernelAsked>()));
  if (request.op == "round") return body_of(machine.round(request.body.get<protocol::PipelineRound>()));
  if (request.op == "trace") {
    const auto trace = request.body.get<protocol::PipelineTraceAsked>();
    machine.traced_by = trace.records ? pipeline::TimelineSource::kRecords : pipeline::TimelineSource::kEvents;
    return body_of(machine.trace(trace.candidate));
  }
  const auto trial = request.body.get<protocol::PipelineTrial>();
  if (request.op == "steps") return body_of(machine.steps(trial.candidate));
  if (behaviour == "wrong") machine.wrong.insert(trial.candidate.key());
  return body_of(machine.trial(trial));
}

}  // namespace

void register_pipeline(RoomRoles& rooms) {
  const auto machine = std::make_shared<test::SimulatedPipeline>();
  machine->machine.rates = {50e9, 50e9, 45e9, 45e9, 12e9, 12e9, 10e9, 10e9, 20e9, 5e-6, 3e-6};
  rooms["pipeline"] = {key_of, [machine](const Request& request, const std::string& behaviour) {
                         return answer(request, behaviour, *machine);
                       }};
}

}  // namespace pgtune::device::fake
