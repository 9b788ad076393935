// SPDX-License-Identifier: MIT
// A GPU whose chains take times that were made up: its steps' and what lies between launches, less where launches
// overlap. Of the session's tests, and behind the fake worker.
#pragma once

#include <optional>
#include <string>

#include "tests/device/fake_measurer.hpp"
#include "tuner/device/chain_device.hpp"

namespace pgtune::device::test {

class SimulatedChain final : public ChainDevice {
 public:
  double first_step_s = 10e-6, later_step_s = 5e-6;  ///< alone: step i takes the first and i times the second
  double between_s = 1e-6;                           ///< from one launch of a chain to the next
  double between_overlapping_s = 0.25e-6;            ///< where it overlaps
  std::string wrong_step;                            ///< whose result is wrong
  bool wrong_when_overlapping = false;               ///< of that step, only with overlap
  std::optional<protocol::ChainContender> fails;     ///< in rounds
  bool capped = false, hot = false;
  int lost_edges = 0;  ///< launches that ask for overlap in vain

  int rounds = 0, checks = 0;
  protocol::ChainRound last_round;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }

  [[nodiscard]] Result<protocol::ChainPrepared> prepare(const protocol::ChainPrepare& request) override {
    if (auto ok = check_chain(request.chain); !ok) return tl::unexpected<Error>(ok.error());
    request_ = request;
    return protocol::ChainPrepared{3, {}};
  }

  [[nodiscard]] Result<protocol::ChainCheck> check(const protocol::ChainCheckAsked& asked) override {
    ++checks;
    protocol::ChainCheck out;
    for (const ChainStep& step : request_.chain.steps) {
      if (step.name == wrong_step && (asked.overlapping || !wrong_when_overlapping)) {
        out.outcome = {OutcomeKind::kWrongResult, "step '" + step.name + "': simulated: 3 of 4 elements wrong"};
        return out;
      }
      out.steps.push_back({0.25, 1e-3});
    }
    if (asked.overlapping) out.overlapping_launches = 3 * overlaps() - (first_overlaps() ? 1 : 0);
    out.programmatic_edges = out.overlapping_launches - (asked.overlapping ? lost_edges : 0);
    return out;
  }

  [[nodiscard]] Result<protocol::RoundReport> round(const protocol::ChainRound& request) override {
    ++rounds;
    last_round = request;
    const std::size_t count = request.contenders.size();
    protocol::RoundReport report{std::vector<std::optional<Sample>>(count), std::vector<Outcome>(count)};
    for (std::size_t position = 0; position < count; ++position) {
      const auto index = static_cast<std::size_t>(request.order[position]);
      if (fails && request.contenders[index] == *fails) {
        report.outcomes[index] = {OutcomeKind::kCrashed, "simulated: an illegal memory access"};
        continue;
      }
      Sample sample;
      sample.stage = request.stage;
      sample.round = request.round;
      sample.position = static_cast<int>(position);
      sample.launches = 1000;
      sample.time_s = 1000 * time_s(request.contenders[index]);
      sample.sm_clock_hz = 1.9e9;
      sample.graph = true;
      sample.power_cap_s = capped ? sample.time_s : 0;
      sample.thermal_s = hot ? sample.time_s : 0;
      if (request.settle_s > 0) sample.lead_in_s = request.settle_s;
      report.samples[index] = sample;
    }
    return report;
  }

  [[nodiscard]] double time_s(const protocol::ChainContender& contender) const {
    if (contender.step) return first_step_s + *contender.step * later_step_s;
    double sum_s = 0;
    for (std::size_t i = 0; i < request_.chain.steps.size(); ++i) {
      const bool overlaps = contender.overlapping && request_.kernels[i].overlapping;
      sum_s += first_step_s + static_cast<double>(i) * later_step_s + (overlaps ? between_overlapping_s : between_s);
    }
    return sum_s;
  }

 private:
  [[nodiscard]] std::int64_t overlaps() const {
    std::int64_t count = 0;
    for (const auto& kernel : request_.kernels) count += kernel.overlapping ? 1 : 0;
    return count;
  }
  [[nodiscard]] bool first_overlaps() const { return request_.kernels.front().overlapping.has_value(); }

  DeviceInfo info_ = fake::gpu(0);
  protocol::ChainPrepare request_;
};

}  // namespace pgtune::device::test
