// SPDX-License-Identifier: MIT
#include "tuner/device/worker_chain_device.hpp"

namespace pgtune::device {

Result<std::unique_ptr<WorkerChainDevice>> WorkerChainDevice::open(const Options& options) {
  auto worker = RoleWorker::open("chain", options);
  if (!worker) return tl::unexpected<Error>(std::move(worker.error()));
  return std::unique_ptr<WorkerChainDevice>(new WorkerChainDevice(std::move(*worker)));
}

Result<protocol::ChainPrepared> WorkerChainDevice::prepare(const protocol::ChainPrepare& request) {
  return worker_.prepare<protocol::ChainPrepared>(request, "prepared chain");
}

Result<protocol::ChainCheck> WorkerChainDevice::check(const protocol::ChainCheckAsked& request) {
  auto answer = worker_.call("check", request);
  if (!answer) return tl::unexpected<Error>(std::move(answer.error()));
  if (!answer->body) return protocol::ChainCheck{.outcome = answer->body.error()};
  return protocol::decode_body<protocol::ChainCheck>(*answer->body, "check of a chain");
}

Result<protocol::RoundReport> WorkerChainDevice::round(const protocol::ChainRound& request) {
  const std::size_t count = request.contenders.size();
  auto answer = worker_.call("round", request);
  if (!answer) return tl::unexpected<Error>(std::move(answer.error()));
  // All of them are right by the checks before: whoever takes the worker with it ends the measurement for all.
  if (!answer->body)
    return protocol::RoundReport{std::vector<std::optional<Sample>>(count),
                                 std::vector<Outcome>(count, answer->body.error())};
  auto report = protocol::decode_body<protocol::RoundReport>(*answer->body, "round");
  if (report && (report->samples.size() != count || report->outcomes.size() != count))
    return fail(ErrorKind::kInternal, "malformed round report: not one sample and outcome for each contender");
  return report;
}

}  // namespace pgtune::device
