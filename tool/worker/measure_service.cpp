// SPDX-License-Identifier: MIT
#include "tool/worker/measure_service.hpp"

#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"

namespace pgtune::worker {
Result<nlohmann::json> MeasureService::handle(const protocol::Request& request) {
  if (request.op == "prepare") {
    auto prepared = as_body(measurer_->prepare(request.body.get<protocol::PrepareRequest>()));
    if (prepared) (*prepared)["opaque"] = measurer_->opaque_algorithms();
    return prepared;
  }
  if (request.op == "round") return as_body(measurer_->round(request.body.get<protocol::RoundRequest>()));
  if (request.op == "verify") return as_body(measurer_->verify(request.body.get<protocol::VerifyRequest>()));
  if (request.op == "energy") return as_body(measurer_->energy(request.body.get<protocol::EnergyRequest>()));
  if (request.op == "ceilings") return as_body(measurer_->ceilings());
  if (request.op == "trial") {
    const auto trial = request.body.get<protocol::TrialRequest>();
    return nlohmann::json(protocol::TrialDone{.id = trial.id, .report = measurer_->trial(trial)});
  }
  if (request.op == "launch") {
    return nlohmann::json(measurer_->launch(request.body.get<protocol::LaunchRequest>()));
  }
  return unknown_operation(request);
}

}  // namespace pgtune::worker
