// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/handout.hpp"

#include <algorithm>
#include <numeric>

namespace pgtune::tool {
namespace {

/// Devices that fail on a problem before it is at fault, and problems that a device fails on before it is.
constexpr std::size_t kStrikes = 2;

}  // namespace

Handout::Handout(const std::vector<double>& expected_s, std::size_t devices, const std::vector<bool>& begun)
    : order_(expected_s.size()), problems_(expected_s.size()), devices_(devices) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const bool a_begun = !begun.empty() && begun[a], b_begun = !begun.empty() && begun[b];
    return a_begun == b_begun ? expected_s[a] > expected_s[b] : b_begun;
  });
}

std::optional<std::size_t> Handout::take(std::size_t device) {
  const auto found =
      std::find_if(order_.begin(), order_.end(), [&](std::size_t problem) { return may_take(device, problem); });
  if (found == order_.end()) return std::nullopt;
  problems_[*found].waits = false;
  devices_[device].problem = *found;
  return *found;
}

void Handout::done(std::size_t device, std::size_t problem) {
  problems_[problem].waits = false;
  devices_[device].problem.reset();
  devices_[device].suspects.clear();
}

Handout::AfterFailure Handout::failed(std::size_t device, std::size_t problem) {
  devices_[device].problem.reset();
  problems_[problem].waits = true;
  problems_[problem].failed_on.insert(device);
  devices_[device].suspects.insert(problem);
  if (is_at_fault(problem)) {
    for (Device& other : devices_) other.suspects.erase(problem);
    return AfterFailure::kGivenUp;
  }
  if (devices_[device].suspects.size() >= kStrikes) {
    leave(device);
    return AfterFailure::kDeviceIsOut;
  }
  return anybody_may_take(problem) ? AfterFailure::kElsewhere : AfterFailure::kNobodyIsLeft;
}

void Handout::leave(std::size_t device) {
  Device& leaving = devices_[device];
  if (leaving.problem) problems_[*leaving.problem].waits = true;
  leaving.problem.reset();
  leaving.out = true;
}

std::size_t Handout::devices_left() const {
  return static_cast<std::size_t>(
      std::count_if(devices_.begin(), devices_.end(), [](const Device& device) { return !device.out; }));
}

bool Handout::is_over() const {
  const bool working =
      std::any_of(devices_.begin(), devices_.end(), [](const Device& d) { return d.problem.has_value(); });
  if (working) return false;
  return std::none_of(order_.begin(), order_.end(), [&](std::size_t problem) { return anybody_may_take(problem); });
}

bool Handout::may_take(std::size_t device, std::size_t problem) const {
  const Problem& asked = problems_[problem];
  return asked.waits && !devices_[device].out && !asked.failed_on.contains(device) && !is_at_fault(problem);
}

/// A device that is out is at fault itself, and says nothing about the problem.
bool Handout::is_at_fault(std::size_t problem) const {
  const auto& failed_on = problems_[problem].failed_on;
  const auto strikes =
      std::count_if(failed_on.begin(), failed_on.end(), [&](std::size_t device) { return !devices_[device].out; });
  return static_cast<std::size_t>(strikes) >= kStrikes;
}

bool Handout::anybody_may_take(std::size_t problem) const {
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    if (may_take(device, problem)) return true;
  }
  return false;
}

}  // namespace pgtune::tool
