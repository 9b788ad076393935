// SPDX-License-Identifier: MIT
// What short and settled samples say of two contenders at a GPU's power limit, after docs/explanation/measuring.md.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "test_search.hpp"
#include "tuner/session/rounds/rounds.hpp"
#include "tuner/session/sample_pairs.hpp"

namespace pgtune::session {
namespace {

using support::PowerGpu;
using support::PowerLoad;
using support::PowerModel;

PowerGpu quiet_gpu() {
  PowerGpu gpu;
  gpu.sample_noise = gpu.wander = 0;
  return gpu;
}

/// Section 1: the same cycles, other joules.
const PowerLoad kMoreJoules = support::settling_load("x", 0.2073e-3, 1.3e9);
const PowerLoad kFewerJoules = support::settling_load("y", 0.19435e-3, 1.3e9 * 0.2073 / 0.19435);
/// Section 2: two algorithms. The first takes more cycles and fewer joules for each, and is the faster one when
/// settled.
constexpr double kTruth = 0.986, kAtOneClock = 1.03;
const PowerLoad kFirst = support::settling_load("ref0", 0.2068e-3, 1.36e9);
const PowerLoad kSecond = support::settling_load("ref1", 0.2068e-3 / kTruth, 1.36e9 * kTruth / kAtOneClock);

/// Ratio of the times of blocks in turn, in the long run.
double block_ratio(const PowerLoad& x, const PowerLoad& y, double lead_in_s, double block_s) {
  PowerModel model(quiet_gpu(), 1);
  double x_s = 0, y_s = 0;
  for (int i = 0; i < 60; ++i) {
    const double next_x_s = model.sample(x, lead_in_s, block_s).launch_s;
    const double next_y_s = model.sample(y, lead_in_s, block_s).launch_s;
    if (i < 20) continue;
    x_s += next_x_s;
    y_s += next_y_s;
  }
  return x_s / y_s;
}

/// Time of a launch over its time alone, by milliseconds after a switch from `before`.
std::vector<double> after_switch(const PowerLoad& before, const PowerLoad& load) {
  PowerModel model(quiet_gpu(), 1);
  for (int i = 0; i < 300; ++i) (void)model.sample(before, 0, 1);  // warm
  std::vector<double> out;
  for (int ms = 0; ms < 1000; ++ms) out.push_back(model.sample(load, 0, 1e-3).launch_s / model.alone_s(load));
  return out;
}

TEST(PowerModel, ASwitchDecaysAsMeasured) {
  const auto heavier = after_switch(kFewerJoules, kMoreJoules);
  const auto lighter = after_switch(kMoreJoules, kFewerJoules);
  EXPECT_NEAR(lighter[0], 1.206, 0.03);
  EXPECT_NEAR(heavier[5], 0.945, 0.01);
  EXPECT_NEAR(lighter[5], 1.075, 0.015);
  EXPECT_NEAR(heavier[45], 0.969, 0.02);
  EXPECT_NEAR(lighter[45], 1.024, 0.02);
  EXPECT_NEAR(heavier[90], 1.015, 0.01) << "it overshoots";
  for (std::size_t ms = 250; ms < 1000; ++ms) {
    EXPECT_NEAR(heavier[ms], 1, 0.003);
    EXPECT_NEAR(lighter[ms], 1, 0.003);
  }
}

TEST(PowerModel, ABlocksLengthDecidesTheRatioAsMeasured) {
  EXPECT_NEAR(block_ratio(kMoreJoules, kFewerJoules, 0, 5e-3), 0.996, 0.01);
  EXPECT_NEAR(block_ratio(kMoreJoules, kFewerJoules, 0, 50e-3), 0.970, 0.02);
  EXPECT_NEAR(block_ratio(kMoreJoules, kFewerJoules, 0, 200e-3), 1.041, 0.02);
  EXPECT_NEAR(block_ratio(kMoreJoules, kFewerJoules, 0, 1), 1.057, 0.01);
  EXPECT_NEAR(block_ratio(kFirst, kSecond, 0, 20e-3), 1.033, 0.01);
  EXPECT_NEAR(block_ratio(kFirst, kSecond, 0, 500e-3), 0.979, 0.015);
}

TEST(PowerModel, SettledBlocksAreRight) {
  EXPECT_NEAR(block_ratio(kMoreJoules, kFewerJoules, 0.25, 0.2), 0.2073 / 0.19435, 0.005);
  EXPECT_NEAR(block_ratio(kFirst, kSecond, 0.25, 0.2), kTruth, 0.005);
}

TEST(PowerModel, BelowTheLimitTheClockStaysAtTheTop) {
  PowerLoad small = kFirst;
  small.joules_per_cycle /= 10;
  PowerModel model(quiet_gpu(), 1);
  EXPECT_EQ(model.sample(small, 0.25, 0.2).clock_hz, PowerGpu{}.top_hz);
  EXPECT_DOUBLE_EQ(model.alone_s(small), small.cycles_per_launch / PowerGpu{}.top_hz);
}

/// ln(first / second) over rounds of the two algorithms.
stats::LogRatio measured(double lead_in_s, double sample_s) {
  TestSearch search;
  FakeDevice device = search.device();
  device.powered.emplace(
      PoweredGpu{PowerModel(PowerGpu{}, 1), [](const std::string& name) { return name == "ref0" ? kFirst : kSecond; }});
  device.powered->lead_in_s = lead_in_s;
  const Clock clock = search.clock(device);
  const SessionContext context{search.problem, search.definition, device, search.store,
                               search.options, search.stop,       clock};
  RoundTroubles troubles;
  RoundRunner runner(context, Stage::kFinal, {sample_s, 0}, {baseline_entry(0), baseline_entry(1)}, troubles);
  for (int round = 0; round < 24; ++round) EXPECT_TRUE(runner.run_round());
  return log_time_ratio(runner.field()[0].samples, runner.field()[1].samples);
}

TEST(PowerCap, ShortSamplesPickTheWrongOneAndTheirIntervalMissesTheTruth) {
  const auto ratio = measured(2e-3, 20e-3);
  EXPECT_GT(ratio.interval.low, 0.01) << "the faster one looks slower";
  EXPECT_FALSE(ratio.interval.contains(std::log(kTruth)));
}

TEST(PowerCap, SettledSamplesPickTheRightOneAndTheirIntervalHoldsTheTruth) {
  const auto ratio = measured(0.25, 0.2);
  EXPECT_LT(ratio.interval.high, -0.01);
  EXPECT_TRUE(ratio.interval.contains(std::log(kTruth)))
      << ratio.interval.low << " to " << ratio.interval.high << ", truth " << std::log(kTruth);
}

}  // namespace
}  // namespace pgtune::session
