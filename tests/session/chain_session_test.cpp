// SPDX-License-Identifier: MIT
#include "tuner/session/chain/chain_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/device/sample_chain.hpp"
#include "tests/device/simulated_chain.hpp"
#include "tuner/operation/gemm_operation.hpp"

namespace pgtune::session {
namespace {

using device::test::kernels_of_two_products;
using device::test::two_products;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChainSession : public ::testing::Test {
 protected:
  Result<ChainResult> run(bool overlapping = true) {
    return run_chain(chain_, kernels_of_two_products(overlapping), device_, options_, stop_,
                     [&](const ChainProgress& progress) {
                       if (phases_.empty() || phases_.back() != progress.phase) phases_.push_back(progress.phase);
                       if (on_progress_) on_progress_(progress);
                     });
  }
  ChainResult measured(bool overlapping = true) {
    auto result = run(overlapping);
    EXPECT_TRUE(result) << result.error().text();
    return std::move(*result);
  }

  Chain chain_ = two_products();
  device::test::SimulatedChain device_;
  ChainOptions options_;
  std::atomic<bool> stop_ = false;
  std::vector<ChainProgress::Phase> phases_;
  std::function<void(const ChainProgress&)> on_progress_;
};

TEST_F(ChainSession, SaysWhatTheChainTakesBesideItsStepsAndWhatOverlapIsWorth) {
  const ChainResult result = measured();
  const ChainAnswer& answer = result.answer;
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kOk);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(answer.rounds, kShortChainRounds);
  EXPECT_EQ(answer.sampling, Sampling::kShort);
  EXPECT_NEAR(answer.steps[0].time_s(), 10e-6, 1e-12);
  EXPECT_NEAR(answer.steps[1].time_s(), 15e-6, 1e-12);
  EXPECT_NEAR(answer.steps_s(), 25e-6, 1e-12);
  EXPECT_NEAR(answer.share(1), 0.6, 1e-9);
  EXPECT_NEAR(answer.chain.time_s(), 27e-6, 1e-12);
  EXPECT_NEAR(std::exp(answer.steps_to_chain.mean), 25.0 / 27, 1e-9);
  EXPECT_NEAR(answer.overlapping_chain.time_s(), 26.25e-6, 1e-12);
  EXPECT_NEAR(std::exp(answer.chain_to_overlapping.mean), 27 / 26.25, 1e-9);
  EXPECT_EQ(answer.prepared.copies, 3);
  EXPECT_THAT(answer.notes, IsEmpty());
  using Phase = ChainProgress::Phase;
  EXPECT_EQ(phases_, (std::vector{Phase::kPrepare, Phase::kCheck, Phase::kSteady, Phase::kRounds}));
}

TEST_F(ChainSession, WhatTheCheckOfAStepDoesNotShowIsANote) {
  OperationProblem own = *operation::with_operation(chain_.steps[1].problem).value().operation;
  own.name = "own";
  std::erase_if(own.buffers, [](const OperationBuffer& buffer) { return buffer.absent; });
  own.reference = {{"own_reference", {1, 1, 1}, {32, 1, 1}, {}}};
  own.baselines.clear();
  own.null_test = false;
  chain_.steps[1].problem = Problem{};
  chain_.steps[1].problem.operation = OperationHandle(std::move(own));
  EXPECT_THAT(measured().answer.notes,
              ::testing::ElementsAre(HasSubstr("step 'down': the operation 'own' leaves out the null test")));
}

TEST_F(ChainSession, AtThePowerCapSamplesAreSettledAndFewer) {
  device_.capped = true;
  const ChainResult result = measured();
  EXPECT_EQ(result.answer.sampling, Sampling::kSettled);
  EXPECT_EQ(result.answer.rounds, kSettledChainRounds);
  EXPECT_GT(device_.last_round.settle_s, 0);
  EXPECT_EQ(device_.rounds, 1 + kSettledChainRounds);
}

TEST_F(ChainSession, EveryRoundHasTheChainsAndEachStepAndOrdersAreBalanced) {
  options_.rounds = 6;
  const ChainResult result = measured();
  EXPECT_EQ(device_.last_round.contenders.size(), 4);
  std::map<int, int> sums;
  for (const Sample& sample : result.answer.chain.samples) ++sums[sample.position];
  EXPECT_GT(sums.size(), 1);
  EXPECT_EQ(result.answer.chain.samples.size(), 6);
  EXPECT_EQ(result.answer.steps_to_chain.pairs, 6);
}

TEST_F(ChainSession, WithoutOverlapThereIsNoSecondChain) {
  const ChainResult result = measured(false);
  EXPECT_EQ(device_.checks, 1);
  EXPECT_FALSE(result.answer.overlapping);
  EXPECT_EQ(result.answer.chain_to_overlapping.pairs, 0);
  EXPECT_EQ(device_.last_round.contenders.size(), 3);
}

TEST_F(ChainSession, AWrongStepIsTheOutcomeAndNothingIsTimed) {
  device_.wrong_step = "down";
  const ChainResult result = measured();
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_THAT(result.outcome.reason, HasSubstr("step 'down'"));
  EXPECT_EQ(device_.rounds, 0);
}

TEST_F(ChainSession, WhatIsWrongOnlyWithOverlapCostsThatAlone) {
  device_.wrong_step = "down";
  device_.wrong_when_overlapping = true;
  const ChainResult result = measured();
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(result.answer.overlapping->outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_TRUE(result.answer.overlapping_chain.samples.empty());
  EXPECT_EQ(result.answer.chain.samples.size(), kShortChainRounds);
  EXPECT_THAT(result.answer.notes,
              Contains(HasSubstr("with overlapping launches the chain is not measured: step 'down'")));
}

TEST_F(ChainSession, SaysWhereLaunchesDoNotOverlapInTheGraph) {
  device_.lost_edges = 2;
  EXPECT_THAT(measured().answer.notes, Contains(HasSubstr("1 of 3 launches that may overlap")));
}

TEST_F(ChainSession, AContenderThatFailsEndsTheMeasurement) {
  device_.fails = protocol::ChainContender{1, false};
  const ChainResult result = measured();
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kCrashed);
  EXPECT_EQ(result.answer.rounds, 0);
  EXPECT_TRUE(result.answer.chain.samples.empty());
}

TEST_F(ChainSession, ASignalKeepsTheRoundsThereAre) {
  on_progress_ = [&](const ChainProgress& progress) { stop_ = stop_ || progress.done == 7; };
  const ChainResult result = measured();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(result.answer.rounds, 8);
  EXPECT_EQ(result.answer.steps_to_chain.pairs, 8);
}

TEST_F(ChainSession, HeatIsNoted) {
  device_.hot = true;
  EXPECT_THAT(measured().answer.notes, Contains(HasSubstr("heat")));
}

TEST_F(ChainSession, WhatADeviceRefusesIsAnError) {
  Chain chain = two_products();
  chain.steps.clear();
  const auto result = run_chain(chain, {}, device_, options_, stop_, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace pgtune::session
