// SPDX-License-Identifier: MIT
#include "tool/worker/chain_service.hpp"

#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"

namespace pgtune::worker {

Result<nlohmann::json> ChainService::handle(const protocol::Request& request) {
  const nlohmann::json& body = request.body;
  if (request.op == "prepare") return as_body(runner_->prepare(body.get<protocol::ChainPrepare>()));
  if (request.op == "check") return as_body(runner_->check(body.get<protocol::ChainCheckAsked>()));
  if (request.op == "round") return as_body(runner_->round(body.get<protocol::ChainRound>()));
  return unknown_operation(request);
}

}  // namespace pgtune::worker
