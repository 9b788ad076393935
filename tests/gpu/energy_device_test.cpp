// SPDX-License-Identifier: MIT
// Energy windows on a GPU. Skipped where it has no energy counter.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/gpu/measure_device_fixture.hpp"

namespace pgtune::gpu {
namespace {

protocol::EnergyRequest window_request(double window_s = 2) {
  return {.contender = {}, .lead_in_s = 1, .window_s = window_s, .max_uncertainty = 0.01, .index = 0};
}

void print(const std::string& what, const EnergyWindow& window) {
  std::cout << what << ": " << window.power_w() << " W over " << window.window_s << " s (" << window.steps
            << " steps of " << window.step_s * 1e3 << " ms, +-" << window.uncertainty * 100 << " %), averaged "
            << window.averaged_power_w << " W, " << window.launches << " launches of " << window.per_launch_s * 1e6
            << " us, " << window.sm_clock_hz * 1e-6 << " MHz, at the cap " << window.power_cap_share.value_or(-1) * 100
            << " %, " << window.temperature_start_c << " to " << window.temperature_end_c << " C\n";
}

class EnergyOnDevice : public MeasureOnDevice {
 protected:
  void SetUp() override {
    MeasureOnDevice::SetUp();
    if (IsSkipped()) return;
    const auto idle = measurer_->energy(window_request());
    if (!idle && idle.error().kind == ErrorKind::kEnvironment) GTEST_SKIP() << idle.error().text();
    ASSERT_TRUE(idle) << idle.error().text();
    idle_ = *idle;
  }

  [[nodiscard]] protocol::EnergyRequest of_variant(const Problem& problem) {
    protocol::EnergyRequest out = window_request();
    out.contender = request(problem, "").built;
    return out;
  }

  static void expect_whole(const EnergyWindow& window) {
    EXPECT_GE(window.window_s, 2 - 0.05);
    EXPECT_GE(window.steps, 10);
    EXPECT_GT(window.uncertainty, 0);
    EXPECT_LE(window.uncertainty, 0.01);
    EXPECT_FALSE(window.suspect());
  }

  EnergyWindow idle_;
};

TEST_F(EnergyOnDevice, IdleDrawsPowerAndLaunchesNothing) {
  print("idle", idle_);
  expect_whole(idle_);
  EXPECT_GT(idle_.power_w(), 5);
  EXPECT_EQ(idle_.launches, 0);
  EXPECT_EQ(idle_.per_launch_s, 0);
}

TEST_F(EnergyOnDevice, TheBaselineUnderLoadDrawsMoreAndIsTimedInsideTheWindow) {
  const Problem problem = make_problem("4096x4096x4096");
  const BaselineReport baseline = prepare(problem);
  protocol::EnergyRequest load = window_request();
  load.contender = BaselineAlgorithm{baseline.best};
  const auto window = measurer_->energy(load);
  ASSERT_TRUE(window) << window.error().text();
  print("baseline", *window);
  expect_whole(*window);
  EXPECT_GT(window->power_w(), 1.5 * idle_.power_w());
  // All of the window but the two chunks at its ends was timed.
  const double timed_s = static_cast<double>(window->launches) * window->per_launch_s;
  EXPECT_GT(timed_s, window->window_s - 0.1);
  EXPECT_LE(timed_s, window->window_s + 1e-3);
  const double screened_s = baseline.algorithms[static_cast<std::size_t>(baseline.best)].time_s;
  EXPECT_NEAR(window->per_launch_s / screened_s, 1, 0.3);
  EXPECT_GT(window->sm_clock_hz, 0);
}

TEST_F(EnergyOnDevice, ShortLaunchesKeepTheGpuBusyToo) {
  const Problem problem = make_problem("256x256x256");
  static_cast<void>(prepare(problem));
  const auto window = measurer_->energy(of_variant(problem));
  ASSERT_TRUE(window) << window.error().text();
  print("short launches", *window);
  expect_whole(*window);
  EXPECT_GT(static_cast<double>(window->launches) * window->per_launch_s, window->window_s - 0.1);
}

TEST_F(EnergyOnDevice, RefusalsAndFailuresLeaveTheMeasurerUsable) {
  const Problem problem = make_problem("512x512x512");
  static_cast<void>(prepare(problem));
  protocol::EnergyRequest brief = of_variant(problem);
  brief.window_s = 0.2;
  const auto refused = measurer_->energy(brief);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage) << refused.error().text();

  protocol::EnergyRequest missing = of_variant(problem);
  protocol::BuiltVariant lost = std::get<protocol::BuiltVariant>(*missing.contender);
  lost.build.cubin_path += ".missing";
  missing.contender = lost;
  EXPECT_FALSE(measurer_->energy(missing));
  protocol::EnergyRequest unknown = window_request();
  unknown.contender = BaselineAlgorithm{1000};
  EXPECT_FALSE(measurer_->energy(unknown));

  EXPECT_FALSE(measurer_->context_lost());
  const auto window = measurer_->energy(of_variant(problem));
  EXPECT_TRUE(window) << window.error().text();
}

TEST_F(EnergyOnDevice, AContenderNeedsAProblem) {
  protocol::EnergyRequest load = window_request();
  load.contender = BaselineAlgorithm{0};
  EXPECT_FALSE(measurer_->energy(load));
}

}  // namespace
}  // namespace pgtune::gpu
