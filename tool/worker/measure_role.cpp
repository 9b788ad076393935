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
  gpu::Measurer& measurer = *measurer_;
  if (request.op == "prepare") {
    auto prepared =
        answer_to<protocol::PrepareRequest>(request, [&](const auto& body) { return measurer.prepare(body); });
    if (prepared) (*prepared)["opaque"] = measurer.opaque_algorithms();
    return prepared;
  }
  if (request.op == "trial")
    return answer_to<protocol::TrialRequest>(request, [&](const auto& body) -> Result<protocol::TrialDone> {
      return protocol::TrialDone{.id = body.id, .report = measurer.trial(body)};
    });
  if (request.op == "launch")
    return answer_to<protocol::LaunchRequest>(
        request, [&](const auto& body) -> Result<protocol::LaunchReport> { return measurer.launch(body); });
  if (request.op == "round")
    return answer_to<protocol::RoundRequest>(request, [&](const auto& body) { return measurer.round(body); });
  if (request.op == "verify")
    return answer_to<protocol::VerifyRequest>(request, [&](const auto& body) { return measurer.verify(body); });
  if (request.op == "energy")
    return answer_to<protocol::EnergyRequest>(request, [&](const auto& body) { return measurer.energy(body); });
  if (request.op == "rows")
    return answer_to<protocol::RowsRequest>(request, [&](const auto& body) { return measurer.rows(body); });
  if (request.op == "ceilings") return as_body(measurer.ceilings());
  return unknown_operation(request);
}

}  // namespace

Result<void> serve_measure(const WorkerOptions& options, LineChannel& channel) {
  return serve_gpu<MeasureRole, gpu::Measurer>(options, channel);
}

}  // namespace pgtune::worker
