// SPDX-License-Identifier: MIT
// Rounds on a GPU: every contender gets a block of the same duration, a failing one only an outcome.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/gpu/measure_device_fixture.hpp"

namespace pgtune::gpu {
namespace {

class Round : public MeasureOnDevice {
 protected:
  [[nodiscard]] device::Contender contender(const Problem& problem, const std::string& fault) {
    const device::TrialRequest built = request(problem, fault);
    return {built.variant, built.plan, built.build, -1};
  }
};

TEST_F(Round, GivesEachContenderABlockInTheGivenOrder) {
  const Problem problem = make_problem("512x512x512");
  const ReferenceReport reference = prepare(problem);
  device::RoundRequest request;
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

TEST_F(Round, AContenderThatCannotBeLaunchedDoesNotStopTheOthers) {
  const Problem problem = make_problem("256x256x256");
  static_cast<void>(prepare(problem));
  device::RoundRequest request;
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
  device::RoundRequest request;
  request.contenders = {contender(problem, ""), contender(problem, "")};
  request.order = {0, 0};
  EXPECT_FALSE(measurer_->round(request));
}

}  // namespace
}  // namespace pgtune::gpu
