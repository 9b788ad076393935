// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/deferred_device.hpp"

namespace pgtune::tool {

Result<BaselineReport> DeferredDevice::prepare(const protocol::PrepareRequest& request) {
  if (device_ == nullptr) {
    auto opened = device::WorkerDevice::open(options_);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    device_ = std::move(*opened);
    info_ = device_->info();
  }
  return device_->prepare(request);
}

std::size_t DeferredDevice::build_slots() const { return device_->build_slots(); }

void DeferredDevice::submit_build(protocol::BuildRequest request) { device_->submit_build(std::move(request)); }

void DeferredDevice::submit_trial(protocol::TrialRequest request) { device_->submit_trial(std::move(request)); }

Result<std::vector<protocol::Event>> DeferredDevice::wait(std::chrono::milliseconds timeout) {
  return device_->wait(timeout);
}

Result<protocol::RoundReport> DeferredDevice::run_round(const protocol::RoundRequest& request) {
  return device_->run_round(request);
}

Result<EnergyWindow> DeferredDevice::measure_energy(const protocol::EnergyRequest& request) {
  return device_->measure_energy(request);
}

Result<Ceilings> DeferredDevice::measure_ceilings() { return device_->measure_ceilings(); }

}  // namespace pgtune::tool
