// SPDX-License-Identifier: MIT
// A GPU that is opened when the first problem is prepared: a search that the database answers starts no worker.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tuner/device/worker_device.hpp"

namespace pgtune::tool {

class DeferredDevice : public device::Device {
 public:
  /// `info`: the GPU as listed; replaced by what the measure worker says once it runs.
  DeferredDevice(DeviceInfo info, device::WorkerDevice::Options options)
      : info_(std::move(info)), options_(std::move(options)) {}

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] std::string source() const override { return "gpu"; }
  /// Opens the GPU the first time; errors are those of WorkerDevice::open too.
  [[nodiscard]] Result<BaselineReport> prepare(const protocol::PrepareRequest& request) override;
  // The rest is for after the first successful prepare.
  [[nodiscard]] std::size_t build_slots() const override;
  void submit_build(protocol::BuildRequest request) override;
  void submit_trial(protocol::TrialRequest request) override;
  [[nodiscard]] Result<std::vector<protocol::Event>> wait(std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<protocol::RoundReport> run_round(const protocol::RoundRequest& request) override;
  [[nodiscard]] Result<EnergyWindow> measure_energy(const protocol::EnergyRequest& request) override;
  [[nodiscard]] Result<Ceilings> measure_ceilings() override;

 private:
  DeviceInfo info_;
  device::WorkerDevice::Options options_;
  std::unique_ptr<device::WorkerDevice> device_;
};

}  // namespace pgtune::tool
