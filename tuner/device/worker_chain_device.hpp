// SPDX-License-Identifier: MIT
// A real GPU's chains, through a worker process that is replaced when it dies, hangs or loses its context.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "tuner/device/chain_device.hpp"
#include "tuner/device/measure_worker.hpp"

namespace pgtune::device {

class WorkerChainDevice final : public ChainDevice {
 public:
  struct Options {
    std::string worker_path;
    std::string gpu;  ///< ordinal or UUID
    std::chrono::milliseconds request_timeout{120'000};
    std::chrono::milliseconds prepare_timeout{120'000};
  };
  /// Starts the worker. Errors (environment) with the worker's own reason.
  [[nodiscard]] static Result<std::unique_ptr<WorkerChainDevice>> open(const Options& options);

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] Result<protocol::ChainPrepared> prepare(const protocol::ChainPrepare& request) override;
  [[nodiscard]] Result<protocol::ChainCheck> check(const protocol::ChainCheckAsked& request) override;
  [[nodiscard]] Result<protocol::RoundReport> round(const protocol::ChainRound& request) override;

 private:
  explicit WorkerChainDevice(const Options& options);

  MeasureWorker worker_;
  DeviceInfo info_;
  std::chrono::milliseconds timeout_;
};

}  // namespace pgtune::device
