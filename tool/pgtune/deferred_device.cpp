// SPDX-License-Identifier: MIT
#include "tool/pgtune/deferred_device.hpp"

namespace pgtune::tool {

Result<ReferenceReport> DeferredDevice::prepare(const device::PrepareRequest& request) {
  if (device_ == nullptr) {
    auto opened = device::WorkerDevice::open(options_);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    device_ = std::move(*opened);
    info_ = device_->info();
  }
  return device_->prepare(request);
}

std::size_t DeferredDevice::build_slots() const { return device_->build_slots(); }

void DeferredDevice::submit_build(device::BuildRequest request) { device_->submit_build(std::move(request)); }

void DeferredDevice::submit_trial(device::TrialRequest request) { device_->submit_trial(std::move(request)); }

Result<std::vector<device::Event>> DeferredDevice::wait(std::chrono::milliseconds timeout) {
  return device_->wait(timeout);
}

Result<device::RoundReport> DeferredDevice::run_round(const device::RoundRequest& request) {
  return device_->run_round(request);
}

Result<EnergyWindow> DeferredDevice::measure_energy(const device::EnergyRequest& request) {
  return device_->measure_energy(request);
}

Result<Ceilings> DeferredDevice::measure_ceilings() { return device_->measure_ceilings(); }

}  // namespace pgtune::tool
