// SPDX-License-Identifier: MIT
// A real GPU's chains, through a worker process that is replaced when it dies, hangs or loses its context.
#pragma once

#include <memory>
#include <utility>

#include "tuner/device/chain_device.hpp"
#include "tuner/device/role_worker.hpp"

namespace pgtune::device {

class WorkerChainDevice final : public ChainDevice {
 public:
  using Options = RoleWorkerOptions;
  /// Starts the worker. Errors (environment) with the worker's own reason.
  [[nodiscard]] static Result<std::unique_ptr<WorkerChainDevice>> open(const Options& options);

  [[nodiscard]] const DeviceInfo& info() const override { return worker_.info(); }
  [[nodiscard]] Result<protocol::ChainPrepared> prepare(const protocol::ChainPrepare& request) override;
  [[nodiscard]] Result<protocol::ChainCheck> check(const protocol::ChainCheckAsked& request) override;
  [[nodiscard]] Result<protocol::RoundReport> round(const protocol::ChainRound& request) override;

 private:
  explicit WorkerChainDevice(RoleWorker worker) : worker_(std::move(worker)) {}

  RoleWorker worker_;
};

}  // namespace pgtune::device
