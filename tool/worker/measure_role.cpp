// SPDX-License-Identifier: MIT
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "tool/worker/roles.hpp"
#include "tool/worker/service.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::worker {
namespace {

class MeasureRole final : public Service {
 public:
  explicit MeasureRole(std::unique_ptr<gpu::Measurer> measurer) : measurer_(std::move(measurer)) {}

  [[nodiscard]] protocol::Hello hello() const override { return hello_of("measure", measurer_->info()); }
  [[nodiscard]] Result<nlohmann::json> handle(const protocol::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return measurer_->context_lost(); }

 private:
  std::unique_ptr<gpu::Measurer> measurer_;
};

Result<nlohmann::json> MeasureRole::handle(const protocol::Request& request) {
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

}  // namespace

Result<void> serve_measure(const WorkerOptions& options, LineChannel& channel) {
  return serve_gpu<MeasureRole, gpu::Measurer>(options, channel);
}

}  // namespace pgtune::worker
