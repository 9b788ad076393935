// SPDX-License-Identifier: MIT
// Rounds on a GPU: every contender gets a block of the same duration, a failing one only an outcome.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <utility>

#include "tests/gpu/measure_device_fixture.hpp"
#include "tuner/gpu/nvml/nvml.hpp"

namespace pgtune::gpu {
namespace {

class Round : public MeasureOnDevice {
 protected:
  [[nodiscard]] protocol::Contender contender(const Problem& problem, const std::string& fault) {
    const protocol::TrialRequest built = request(problem, fault);
    return {built.variant, built.plan, built.build, -1};
  }
};

TEST_F(Round, GivesEachContenderABlockInTheGivenOrder) {
  const Problem problem = make_problem("512x512x512");
  const ReferenceReport reference = prepare(problem);
  protocol::RoundRequest request;
  request.contenders = {contender(problem, ""), contender(problem, "SLOW"), {}};
  request.contenders[2].reference_algorithm = reference.best;
  request.order = {2, 0, 1};
  for (request.round = 1; request.round <= 3; ++request.round) {
    const auto report = measurer_->round(request);
    ASSERT_TRUE(report) << report.error().text();
    const std::vector<int> positions{1, 2, 0};
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(report->blocks[i]) << report->outcomes[i].reason;
      const Block& block = *report->blocks[i];
      EXPECT_EQ(block.stage, Stage::kFinal);
      EXPECT_EQ(block.round, request.round);
      EXPECT_EQ(block.position, positions[i]);
      EXPECT_GT(block.time_s, 15e-3);
      EXPECT_LT(block.time_s, 40e-3);
      EXPECT_GT(block.sm_clock_hz, 0);
      std::cout << "contender " << i << ": " << block.launches << " launches of " << block.per_launch_s() * 1e6
                << " us at " << block.sm_clock_hz * 1e-6 << " MHz\n";
    }
  }
}

TEST_F(Round, TheSameAlgorithmTwiceIsMeasuredTwice) {
  const ReferenceReport reference = prepare(make_problem("1024x1024x1024"));
  protocol::RoundRequest request;
  request.contenders.resize(2);
  for (protocol::Contender& contender : request.contenders) contender.reference_algorithm = reference.first;
  request.order = {1, 0};
  request.stage = Stage::kFloor;
  request.block_s = 40e-3;
  static_cast<void>(measurer_->round(request));  // lets the clocks settle
  for (request.round = 1; request.round <= 4; ++request.round) {
    const auto report = measurer_->round(request);
    ASSERT_TRUE(report) << report.error().text();
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(report->blocks[i]) << report->outcomes[i].reason;
      EXPECT_EQ(report->blocks[i]->stage, Stage::kFloor);
      EXPECT_EQ(report->blocks[i]->position, i == 0 ? 1 : 0);
      EXPECT_GT(report->blocks[i]->time_s, 30e-3);
    }
    const double ratio = report->blocks[0]->per_launch_s() / report->blocks[1]->per_launch_s();
    EXPECT_NEAR(ratio, 1, 0.05);
    std::cout << "A/A ratio " << ratio << "\n";
  }
}

TEST_F(Round, TheSameVariantTwiceIsMeasuredTwice) {
  const Problem problem = make_problem("512x512x512");
  static_cast<void>(prepare(problem));
  protocol::RoundRequest request;
  request.contenders.assign(2, contender(problem, ""));
  request.order = {0, 1};
  static_cast<void>(measurer_->round(request));  // loads, calibrates and lets the clocks settle
  const auto report = measurer_->round(request);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_TRUE(report->blocks[0] && report->blocks[1]);
  EXPECT_NEAR(report->blocks[0]->per_launch_s() / report->blocks[1]->per_launch_s(), 1, 0.05);
}

TEST_F(Round, BurstBlocksAreShortWithAPauseBeforeEach) {
  const Problem problem = make_problem("1024x1024x1024");
  Conditions conditions;
  conditions.regime = Regime::kBurst;
  const ReferenceReport reference = prepare(problem, conditions);
  protocol::RoundRequest request;
  request.contenders = {contender(problem, ""), {}};
  request.contenders[1].reference_algorithm = reference.best;
  request.order = {0, 1};
  static_cast<void>(measurer_->round(request));  // loads and calibrates
  const auto begin = std::chrono::steady_clock::now();
  const auto report = measurer_->round(request);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_GT(spent.count(), 2 * 50e-3);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(report->blocks[i]) << report->outcomes[i].reason;
    const Block& block = *report->blocks[i];
    EXPECT_GE(block.launches, 5);
    EXPECT_GT(block.time_s, 7e-3);
    EXPECT_LT(block.time_s, 20e-3);
    std::cout << "burst contender " << i << ": " << block.per_launch_s() * 1e6 << " us at " << block.sm_clock_hz * 1e-6
              << " MHz\n";
  }
}

TEST_F(Round, BlocksCarryWhatNvmlSaysWhereItIsThere) {
  const auto nvml = Nvml::open();
  if (!nvml) GTEST_SKIP() << nvml.error().text();
  const auto gpu = nvml->device(measurer_->info().uuid);
  ASSERT_TRUE(gpu) << gpu.error().text();
  const Problem problem = make_problem("1024x1024x1024");
  const ReferenceReport reference = prepare(problem);
  protocol::RoundRequest request;
  request.contenders.resize(1);
  request.contenders[0].reference_algorithm = reference.first;
  request.order = {0};
  const auto report = measurer_->round(request);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_TRUE(report->blocks[0]);
  const Block& block = *report->blocks[0];
  const ThrottleTimes times = gpu->throttle_times();
  EXPECT_EQ(block.temperature_c.has_value(), gpu->temperature_c().has_value());
  EXPECT_EQ(block.power_cap_s.has_value(), times.power_cap_s.has_value());
  EXPECT_EQ(block.thermal_s.has_value(), times.thermal_s.has_value());
  if (block.temperature_c) {
    EXPECT_GT(*block.temperature_c, 10);
  }
  if (block.power_cap_s) {
    EXPECT_LE(*block.power_cap_s, 2 * block.time_s);
  }

  const TrialReport trial = measurer_->trial(this->request(problem, ""));
  ASSERT_FALSE(trial.blocks.empty()) << trial.outcome.reason;
  EXPECT_EQ(trial.blocks[0].temperature_c.has_value(), gpu->temperature_c().has_value());
  EXPECT_FALSE(trial.blocks[0].power_cap_s);
}

TEST_F(Round, ShortLaunchesComeFromGraphsAndLongOnesDoNot) {
  for (const auto& [shape, graph] : {std::pair{"64x64x64", true}, std::pair{"2048x2048x2048", false}}) {
    const Problem problem = make_problem(shape);
    const ReferenceReport reference = prepare(problem);
    protocol::RoundRequest request;
    request.contenders = {contender(problem, ""), {}};
    request.contenders[1].reference_algorithm = reference.best;
    request.order = {0, 1};
    const auto report = measurer_->round(request);
    ASSERT_TRUE(report) << report.error().text();
    for (const auto& block : report->blocks) {
      ASSERT_TRUE(block);
      EXPECT_EQ(block->graph, graph) << shape;
    }
  }
}

TEST_F(Round, AContenderThatCannotBeLaunchedDoesNotStopTheOthers) {
  const Problem problem = make_problem("256x256x256");
  static_cast<void>(prepare(problem));
  protocol::RoundRequest request;
  request.contenders = {contender(problem, ""), contender(problem, "")};
  request.contenders[0].build.cubin_path += ".missing";
  request.order = {0, 1};
  const auto report = measurer_->round(request);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_FALSE(report->blocks[0]);
  EXPECT_EQ(report->outcomes[0].kind, OutcomeKind::kLaunchFailed);
  EXPECT_TRUE(report->blocks[1]);
}

TEST_F(Round, AnOrderThatIsNoPermutationIsRefused) {
  const Problem problem = make_problem("64x64x64");
  static_cast<void>(prepare(problem));
  protocol::RoundRequest request;
  request.contenders = {contender(problem, ""), contender(problem, "")};
  request.order = {0, 0};
  EXPECT_FALSE(measurer_->round(request));
}

}  // namespace
}  // namespace pgtune::gpu
