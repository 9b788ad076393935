// SPDX-License-Identifier: MIT
// The final's rounds as the device sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "test_search.hpp"
#include "tuner/session/rounds/final.hpp"

namespace pgtune::session {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Final, EveryRoundHoldsAllFinalistsAndBothBaselines) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  ASSERT_EQ(device.rounds[Stage::kFinal].size(), 24U);
  for (const auto& round : device.rounds[Stage::kFinal]) {
    EXPECT_EQ(round.size(), 10U);
    EXPECT_THAT(round, Contains("ref0").Times(1));
    EXPECT_THAT(round, Contains("ref1").Times(1));
    EXPECT_THAT(round, Contains(kBestKey).Times(1));
  }
}

TEST(Final, OrdersAreBalanced) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  std::map<std::string, std::size_t> positions;
  for (const auto& round : device.rounds[Stage::kFinal]) {
    for (std::size_t i = 0; i < round.size(); ++i) positions[round[i]] += i;
  }
  for (const auto& [name, sum] : positions) EXPECT_EQ(sum, 24 * 9 / 2U) << name << "'s mean position is the middle";
}

TEST(Final, OneBaselineWhereTheFirstIsTheBest) {
  TestSearch search;
  auto device = search.device();
  device.baseline.best = 0;
  device.baseline.algorithms.resize(1);
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  for (const auto& round : device.rounds[Stage::kFinal]) EXPECT_EQ(round.size(), 9U);
  EXPECT_NEAR(result->answer->best().ratio_to_baseline, 1.2, 2e-3);
  EXPECT_EQ(result->answer->baseline_first_s, result->answer->baseline_best_s);
}

TEST(Final, DriftDoesNotMoveTheRatio) {
  TestSearch search;
  auto device = search.device();
  device.drift_per_round = 0.05;  // the last round is more than twice as slow
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
  EXPECT_NEAR(result->answer->best().ratio_to_baseline, 1.1, 2e-3);
  EXPECT_LT(result->answer->best().ratio_high - result->answer->best().ratio_low, 0.01);
}

TEST(Final, IsOfLaunchesInOneWay) {
  TestSearch search;
  auto device = search.device();
  bool in_graphs = false;
  device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    in_graphs |= request.stage == Stage::kFinal && request.round == 21;
    for (auto& sample : report.samples) {
      if (!sample) continue;
      sample->graph = in_graphs;
      if (in_graphs) sample->time_s *= 0.9;
    }
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 21U + 24U);
  EXPECT_TRUE(result->answer->in_graphs);
  EXPECT_EQ(result->answer->voided_rounds, 21);
  EXPECT_THAT(result->answer->notes, Contains(HasSubstr("in CUDA graphs since")));
  ASSERT_EQ(search.store.rounds[Stage::kFinal].size(), 1U);
  for (const ContenderSamples& stored : search.store.rounds[Stage::kFinal].front()) {
    EXPECT_EQ(stored.samples.size(), 24U);
    for (const Sample& sample : stored.samples) EXPECT_TRUE(sample.graph);
  }
}

TEST(Final, AContenderThatFailsIsOutAndItsFailureStored) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == kBestKey) script.fails_in_round = 4;
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_THAT(device.rounds[Stage::kFinal][3], Contains(kBestKey));
  for (std::size_t i = 4; i < device.rounds[Stage::kFinal].size(); ++i)
    EXPECT_THAT(device.rounds[Stage::kFinal][i], Not(Contains(kBestKey)));
  EXPECT_NE(result->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kWrongResult), 1);
  EXPECT_EQ(result->counts.measured, kSpace - 1);
  EXPECT_EQ(search.store.saved_trials.back(), kBestKey);
  EXPECT_EQ(result->answer->ranking.size(), 7U);
}

TEST(Final, WhenNobodyIsLeftTheNextBestHaveTheirFinal) {
  TestSearch search;
  search.options.finalists = 2;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (parameter(variant, "B") == 3) script.fails_in_round = 1;
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(parameter(result->answer->best().variant, "A"), 5);
  EXPECT_NE(parameter(result->answer->best().variant, "B"), 3);
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 1U + 24U) << "the baseline alone has no further rounds";
}

TEST(Final, ATieWithinTheMarginIsNotExtended) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (variant.key() == "A=4,B=3") script.time_s = 1e-3;
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->ties.size(), 1U);
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 24U);
}

/// The best two of the space take turns of five rounds in who is faster, so that no number of rounds tells them apart.
void make_unclear(FakeDevice& device) {
  device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    for (std::size_t i = 0; i < request.contenders.size(); ++i) {
      const bool best = contender_name(protocol::contender_of(request.contenders[i])) == kBestKey;
      if (best && request.stage == Stage::kFinal)
        report.samples[i]->time_s = request.round / 5 % 2 == 0 ? 10.4e-3 : 11.5e-3;
    }
  };
}

TEST(Final, IsExtendedWhileTheBestTwoAreUnclear) {
  TestSearch search;
  auto device = search.device();
  make_unclear(device);
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 48U);
  EXPECT_EQ(device.sample_s[Stage::kFinal], 20e-3);
  EXPECT_FALSE(result->answer->ties.empty());
}

TEST(Final, IsExtendedEightRoundsAtATimeAndNoFurtherThanAllowed) {
  TestSearch search;
  search.options.max_final_rounds = 36;
  auto device = search.device();
  make_unclear(device);
  ASSERT_TRUE(search.run(device));
  EXPECT_EQ(device.rounds[Stage::kFinal].size(), 36U);

  TestSearch settled;
  auto settling = settled.device();
  make_unclear(settling);
  settling.spoil = [spoil = settling.spoil](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.round <= 17) spoil(request, report);  // from then on it is clear
  };
  ASSERT_TRUE(settled.run(settling));
  EXPECT_EQ(settling.rounds[Stage::kFinal].size(), 32U);
}

TEST(Final, PlansALookForEveryAddition) {
  SessionOptions options;
  EXPECT_EQ(planned_final_looks(final_plan(options, Sampling::kShort)), 4) << "after 24, 32, 40 and 48 rounds";
  options.max_final_rounds = 33;
  EXPECT_EQ(planned_final_looks(final_plan(options, Sampling::kShort)), 3);
  options.final_rounds = options.max_final_rounds = 12;
  EXPECT_EQ(planned_final_looks(final_plan(options, Sampling::kShort)), 1);
}

TEST(Final, HeatThatStaysLeavesAPartialAnswer) {
  TestSearch search;
  auto device = search.device();
  device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage == Stage::kFinal && request.round > 10) report.samples.front()->thermal_s = 0.01;
  };
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_TRUE(result->gave_up);
  EXPECT_FALSE(result->answer->complete || result->answer->from_final);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
  EXPECT_NEAR(result->answer->best().ratio_to_baseline, 1.1, 2e-3) << "from the ten rounds that count";
  EXPECT_THAT(result->answer->notes, Contains(testing::HasSubstr("ended early")));
  EXPECT_EQ(search.store.rounds[Stage::kFinal].front().front().samples.size(), 10U);
}

TEST(Final, SamplesAreSavedWithRoundAndPosition) {
  TestSearch search;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  ASSERT_EQ(search.store.rounds[Stage::kFinal].size(), 1U);
  const auto& saved = search.store.rounds[Stage::kFinal].front();
  ASSERT_EQ(saved.size(), 10U);
  EXPECT_EQ(std::count_if(saved.begin(), saved.end(),
                          [](const ContenderSamples& b) { return algorithm_of(b.contender) != nullptr; }),
            2);
  for (const ContenderSamples& contender : saved) {
    ASSERT_EQ(contender.samples.size(), 24U);
    const std::string name = contender_name(contender.contender);
    for (std::size_t i = 0; i < 24; ++i) {
      EXPECT_EQ(contender.samples[i].round, static_cast<int>(i) + 1);
      EXPECT_EQ(contender.samples[i].stage, Stage::kFinal);
      EXPECT_EQ(device.rounds[Stage::kFinal][i][static_cast<std::size_t>(contender.samples[i].position)], name);
    }
  }
}

TEST(Final, CutVariantsAreNoFinalists) {
  TestSearch search;
  search.options.finalists = 100;
  auto device = search.device();
  ASSERT_TRUE(search.run(device));
  EXPECT_LT(device.rounds[Stage::kFinal].front().size(), 42U);
  EXPECT_EQ(static_cast<std::int64_t>(device.rounds[Stage::kFinal].front().size()),
            kSpace - search.progress.back().cut + 2);
}

TEST(Final, WorksWithoutABaseline) {
  TestSearch search;
  auto device = search.device();
  device.baseline.algorithms.clear();
  device.baseline.best = 0;
  device.baseline.algorithms.resize(1);
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), kBestKey);
  EXPECT_EQ(result->answer->best().ratio_to_baseline, 0);
}

/// As in recordings of versions that let each contender choose by itself.
TEST(Final, SaysWhereOnlyTheBaselineLaunchedInGraphs) {
  for (const bool ours : {false, true}) {
    TestSearch search;
    auto device = search.device();
    device.spoil = [ours](const protocol::RoundRequest& request, protocol::RoundReport& report) {
      for (std::size_t i = 0; i < request.contenders.size(); ++i)
        report.samples[i]->graph = ours || algorithm_of(request.contenders[i]) != nullptr;
    };
    const auto result = search.run(device);
    ASSERT_TRUE(result && result->answer);
    EXPECT_EQ(result->answer->in_graphs, ours);
    const auto said = Contains(testing::HasSubstr("0 % of the winner's samples and 100 % of the baseline's"));
    if (ours) {
      EXPECT_THAT(result->answer->notes, testing::Not(said));
    } else {
      EXPECT_THAT(result->answer->notes, said);
    }
  }
}

TEST(Final, LaunchesOfTheAlgorithmThatIsComparedWithAreToldAndNoOthers) {
  for (const char* compared : {"ref0", "ref1"}) {
    TestSearch search;
    auto device = search.device();
    device.spoil = [&](const protocol::RoundRequest& request, protocol::RoundReport& report) {
      for (std::size_t i = 0; request.stage == Stage::kFinal && i < request.contenders.size(); ++i) {
        const std::string name = contender_name(protocol::contender_of(request.contenders[i]));
        if (name == compared) report.samples[i]->time_s *= 0.8;
        report.samples[i]->graph = name == "ref0";
      }
    };
    const auto result = search.run(device);
    ASSERT_TRUE(result && result->answer);
    EXPECT_EQ(std::any_of(result->answer->notes.begin(), result->answer->notes.end(),
                          [](const std::string& note) { return note.find("in CUDA graphs") != std::string::npos; }),
              std::string(compared) == "ref0");
  }
}

}  // namespace
}  // namespace pgtune::session
