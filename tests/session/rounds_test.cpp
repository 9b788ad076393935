// SPDX-License-Identifier: MIT
// Rounds that heat or a jump of the clock spoils, and those before launches came in graphs: voided, told, repeated, and
// at some point given up.
#include "tuner/session/rounds/rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using End = RoundRunner::End;

/// Rounds of the two baseline algorithms on a fake GPU.
class Rounds : public testing::Test {
 protected:
  Rounds()
      : device_(search_.device()), clock_(search_.clock(device_)), context_{search_.problem, search_.definition,
                                                                            device_,         search_.store,
                                                                            search_.options, search_.stop,
                                                                            clock_} {
    device_.spoil = [this](const protocol::RoundRequest&, protocol::RoundReport& report) {
      ++attempts_;
      for (auto& sample : report.samples) {
        if (hot_.count(attempts_) > 0) sample->thermal_s = 0.002;
        if (sample) sample->graph = attempts_ >= in_graphs_from_;
      }
      if (slow_.count(attempts_) > 0) report.samples.front()->sm_clock_hz = 1.5e9;
    };
  }

  RoundRunner runner(RoundRunner::OnFailure on_failure = {}, SampleTiming timing = {20e-3, 0}) {
    return {context_, Stage::kFinal, timing, {baseline_entry(0), baseline_entry(1)}, troubles_, on_failure};
  }
  static std::vector<int> numbers(const std::vector<Sample>& samples) {
    std::vector<int> out;
    for (const Sample& sample : samples) out.push_back(sample.round);
    return out;
  }
  static std::set<int> from(int first, int last) {
    std::set<int> out;
    for (int i = first; i <= last; ++i) out.insert(i);
    return out;
  }
  std::string notes() const {
    std::string out;
    for (const std::string& note : troubles_.notes()) out += note + "\n";
    return out;
  }
  void run(RoundRunner& rounds, int count, End expected = End::kRan) {
    for (int i = 0; i < count; ++i) {
      const auto end = rounds.run_round();
      ASSERT_TRUE(end) << end.error().text();
      ASSERT_EQ(*end, expected);
    }
  }

  TestSearch search_;
  FakeDevice device_;
  Clock clock_;
  SessionContext context_;
  RoundTroubles troubles_;
  int attempts_ = 0;
  std::set<int> hot_, slow_;                              ///< attempts, counted from 1
  int in_graphs_from_ = std::numeric_limits<int>::max();  ///< this attempt on
};

TEST_F(Rounds, SamplesCarryStageRoundAndPosition) {
  auto rounds = runner();
  run(rounds, 3);
  EXPECT_THAT(numbers(rounds.field()[0].samples), ElementsAre(1, 2, 3));
  for (std::size_t round = 0; round < 3; ++round) {
    EXPECT_EQ(rounds.field()[0].samples[round].position + rounds.field()[1].samples[round].position, 1);
    EXPECT_EQ(rounds.field()[0].samples[round].stage, Stage::kFinal);
  }
  EXPECT_EQ(device_.sample_s[Stage::kFinal], 20e-3);
  EXPECT_THAT(troubles_.notes(), IsEmpty());
  EXPECT_NEAR(device_time_s(rounds.field()), 3 * 10 * (1.2e-3 + 1.1e-3), 1e-4);
}

TEST_F(Rounds, SessionsDifferInTheirOrders) {
  const auto orders = [&](double start_s) {
    context_.start_s = start_s;
    device_.rounds.clear();
    auto rounds = runner();
    run(rounds, 24);
    return device_.rounds[Stage::kFinal];
  };
  EXPECT_EQ(orders(1), orders(1));
  EXPECT_NE(orders(1), orders(2));
}

TEST_F(Rounds, HeatVoidsTheRoundForAllAndItIsRepeatedAfterAPause) {
  hot_ = {3};
  auto rounds = runner();
  run(rounds, 5);
  EXPECT_EQ(attempts_, 6);
  for (const RoundEntry& entry : rounds.field()) {
    EXPECT_THAT(numbers(entry.samples), ElementsAre(1, 2, 3, 4, 5));
    for (const Sample& sample : entry.samples) EXPECT_FALSE(sample.thermal_s);
  }
  EXPECT_NEAR(search_.slept_s, 5, 0.2);
  EXPECT_EQ(troubles_.voided(), 1);
  EXPECT_THAT(notes(), HasSubstr("1 round was void and repeated: heat or power brake"));
}

TEST_F(Rounds, PausesDoubleAndAGoodRoundStartsAnew) {
  hot_ = {1, 2, 3, 5};
  auto rounds = runner();
  run(rounds, 2);
  EXPECT_NEAR(search_.slept_s, 5 + 10 + 20 + 5, 0.5);
  EXPECT_THAT(notes(), HasSubstr("4 rounds were void"));
  EXPECT_FALSE(troubles_.gave_up);
}

TEST_F(Rounds, FiveVoidsInARowEndIt) {
  hot_ = from(3, 100);
  auto rounds = runner();
  run(rounds, 2);
  run(rounds, 1, End::kGaveUp);
  EXPECT_EQ(attempts_, 7);
  EXPECT_EQ(rounds.rounds(), 2);
  EXPECT_EQ(rounds.field()[0].samples.size(), 2U) << "what was good stays";
  EXPECT_TRUE(troubles_.gave_up);
  EXPECT_NEAR(search_.slept_s, 5 + 10 + 20 + 40, 0.5);
  EXPECT_THAT(notes(), HasSubstr("ended early: 5 rounds in a row"));
}

TEST_F(Rounds, OnceLaunchesComeInGraphsRoundsCountFromOneAgain) {
  in_graphs_from_ = 4;
  auto rounds = runner();
  run(rounds, 3);
  const double spent_s = rounds.spent_s();
  rounds.field()[1].out = true;  // a race drops it
  run(rounds, 2);
  EXPECT_EQ(attempts_, 6);
  EXPECT_EQ(rounds.rounds(), 2);
  EXPECT_GT(rounds.spent_s(), 0);
  EXPECT_LT(rounds.spent_s(), spent_s) << "of the two rounds that count";
  EXPECT_THAT(numbers(rounds.field()[0].samples), ElementsAre(1, 2));
  for (const Sample& sample : rounds.field()[0].samples) EXPECT_TRUE(sample.graph);
  EXPECT_THAT(numbers(rounds.field()[1].samples), ElementsAre(1, 2, 3)) << "what it was dropped by";
  EXPECT_EQ(troubles_.voided(), 4);
  EXPECT_THAT(notes(), HasSubstr("4 rounds were void and repeated: the host fell behind"));
}

TEST_F(Rounds, AStopEndsThePause) {
  hot_ = {1};
  device_.after_round = [this](Stage) { search_.stop = true; };
  auto rounds = runner();
  run(rounds, 1, End::kStopped);
  EXPECT_EQ(search_.slept_s, 0);
  EXPECT_TRUE(rounds.field()[0].samples.empty());
}

TEST_F(Rounds, AJumpOfOneClockVoidsTheRound) {
  slow_ = {5};
  auto rounds = runner();
  run(rounds, 6);
  EXPECT_EQ(attempts_, 7);
  for (const Sample& sample : rounds.field()[0].samples) EXPECT_EQ(sample.sm_clock_hz, 1.98e9);
  EXPECT_EQ(rounds.field()[1].samples.size(), 6U);
  EXPECT_EQ(troubles_.clock_voids, 1);
  EXPECT_EQ(search_.slept_s, 0);
  EXPECT_THAT(notes(), HasSubstr("1 round was void and repeated: a clock jumped"));
}

TEST_F(Rounds, AJumpThatStaysIsTheNewLevel) {
  slow_ = from(5, 100);
  auto rounds = runner();
  run(rounds, 12);
  EXPECT_EQ(attempts_, 14) << "two voids, then it is accepted for good";
  EXPECT_EQ(troubles_.clock_voids, 2);
  EXPECT_EQ(troubles_.new_levels, 1);
  EXPECT_EQ(rounds.field()[0].samples.back().sm_clock_hz, 1.5e9);
  EXPECT_THAT(notes(), HasSubstr("new level once"));
}

TEST_F(Rounds, AJumpIsNoVoidInSettledRoundsAndHeatIs) {
  slow_ = {5, 7};
  hot_ = {6};
  auto rounds = runner({}, {0.25, 0.5});
  run(rounds, 6);
  EXPECT_EQ(attempts_, 7) << "one repeated, for heat";
  EXPECT_EQ(rounds.field()[0].samples[4].sm_clock_hz, 1.5e9);
  EXPECT_EQ(troubles_.clock_voids, 0);
  EXPECT_EQ(troubles_.new_levels, 0);
  EXPECT_EQ(troubles_.heat_voids, 1);
  EXPECT_THAT(notes(), Not(HasSubstr("jumped")));
}

TEST_F(Rounds, ThreeRoundsAreNeededToSeeAJump) {
  slow_ = {3};
  auto rounds = runner();
  run(rounds, 4);
  EXPECT_EQ(attempts_, 4);
  EXPECT_EQ(troubles_.voided(), 0);
}

TEST_F(Rounds, AClockBesideTheLockedOneIsNotedOnceAndVoidsNothing) {
  search_.options.conditions.locked_sm_clock_hz = 2.01e9;  // 1.5 % above what the fake GPU says
  auto rounds = runner();
  run(rounds, 4);
  EXPECT_EQ(attempts_, 4);
  ASSERT_EQ(troubles_.notes().size(), 1U);
  EXPECT_THAT(notes(), HasSubstr("ran at 1980 MHz though locked to 2010 MHz"));

  troubles_ = {};
  search_.options.conditions.locked_sm_clock_hz = 1.99e9;
  auto close = runner();
  run(close, 4);
  EXPECT_THAT(troubles_.notes(), IsEmpty());
}

TEST_F(Rounds, WhoFailsIsOutAlsoInAVoidRound) {
  hot_ = {2};
  const auto spoil = device_.spoil;
  device_.spoil = [this, spoil](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    spoil(request, report);
    if (attempts_ != 2) return;
    report.samples.front().reset();
    report.outcomes.front() = {OutcomeKind::kCrashed, "gone"};
  };
  std::vector<std::string> failed;
  auto rounds = runner([&](const RoundEntry& entry) { failed.push_back(entry.outcome.reason); });
  run(rounds, 4);
  EXPECT_THAT(failed, ElementsAre("gone"));
  EXPECT_TRUE(rounds.field()[0].out);
  EXPECT_EQ(rounds.field()[0].samples.size(), 1U);
  EXPECT_EQ(rounds.field()[1].samples.size(), 4U);
}

}  // namespace
}  // namespace pgtune::session
