// SPDX-License-Identifier: MIT
#include "tuner/device/worker_chain_device.hpp"

#include <fmt/format.h>

namespace pgtune::device {

WorkerChainDevice::WorkerChainDevice(const Options& options)
    : worker_({.worker_path = options.worker_path,
               .gpu = options.gpu,
               .prepare_timeout = options.prepare_timeout,
               .role = "chain"}),
      timeout_(options.request_timeout) {}

Result<std::unique_ptr<WorkerChainDevice>> WorkerChainDevice::open(const Options& options) {
  std::unique_ptr<WorkerChainDevice> device(new WorkerChainDevice(options));
  auto info = device->worker_.start();
  if (!info) return fail(std::move(info.error()), fmt::format("GPU {}", options.gpu));
  device->info_ = std::move(*info);
  return device;
}

Result<protocol::ChainPrepared> WorkerChainDevice::prepare(const protocol::ChainPrepare& request) {
  const auto body = worker_.prepare(request);
  if (!body) return tl::unexpected<Error>(body.error());
  return protocol::decode_body<protocol::ChainPrepared>(*body, "prepared chain");
}

Result<protocol::ChainCheck> WorkerChainDevice::check(const protocol::ChainCheckAsked& request) {
  auto answer = worker_.call("check", request, timeout_);
  if (!answer) return tl::unexpected<Error>(std::move(answer.error()));
  if (!answer->body) return protocol::ChainCheck{.outcome = answer->body.error()};
  return protocol::decode_body<protocol::ChainCheck>(*answer->body, "check of a chain");
}

Result<protocol::RoundReport> WorkerChainDevice::round(const protocol::ChainRound& request) {
  const std::size_t count = request.contenders.size();
  auto answer = worker_.call("round", request, timeout_);
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
