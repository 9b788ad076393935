// SPDX-License-Identifier: MIT
#include "tuner/session/answer/ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

using testing::ElementsAre;

std::vector<Sample> samples(const std::vector<double>& times_s) {
  std::vector<Sample> out;
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    out.push_back({Stage::kFinal, static_cast<int>(i) + 1, 0, 2, 2 * times_s[i], 0});
  }
  return out;
}

MeasuredVariant variant(std::int64_t a, const std::vector<double>& times_s, std::int64_t smem_bytes = 1000,
                        int registers = 64) {
  MeasuredVariant out;
  out.variant = {"fake", {{"A", a}}};
  out.build.registers = registers;
  out.smem_bytes = smem_bytes;
  out.samples = samples(times_s);
  return out;
}

const std::vector<double> kFast{1.000, 1.001, 1.000, 0.999, 1.000, 1.001, 0.999, 1.000};
const std::vector<double> kSame{1.001, 1.000, 0.999, 1.000, 1.001, 1.000, 1.000, 1.001};
const std::vector<double> kSlow{1.050, 1.051, 1.050, 1.049, 1.050, 1.051, 1.049, 1.050};

Answer rank(const std::vector<MeasuredVariant>& variants, const std::vector<MeasuredBaseline>& baselines = {},
            double margin = 0.003, int looks = 1) {
  Answer answer;
  rank_final(test_problem(), variants, {baselines, 0, margin, looks}, answer);
  return answer;
}

TEST(RankFinal, TheFastestWinsAndTheOthersFollowByMedian) {
  const Answer answer = rank({variant(1, kSlow), variant(2, kFast), variant(3, {2, 2, 2, 2, 2, 2, 2, 2})});
  EXPECT_EQ(answer.best().variant.key(), "A=2");
  EXPECT_TRUE(answer.ties.empty());
  ASSERT_EQ(answer.ranking.size(), 3U);
  EXPECT_EQ(answer.ranking[1].variant.key(), "A=1");
  EXPECT_EQ(answer.ranking[2].variant.key(), "A=3");
  EXPECT_DOUBLE_EQ(answer.ranking[2].spread, 0);
}

TEST(RankFinal, ATieGoesToFewerSharedMemoryBytes) {
  const Answer answer = rank({variant(1, kFast, 2000), variant(2, kSame, 1000), variant(3, kSlow, 10)});
  EXPECT_EQ(answer.best().variant.key(), "A=2");
  EXPECT_THAT(answer.ties, ElementsAre("A=1"));
  EXPECT_EQ(answer.best().smem_bytes, 1000);
}

TEST(RankFinal, ATieGoesToSharedMemoryThenToRegistersThenToTheLowerKey) {
  struct Case {
    MeasuredVariant fast, same;
    const char* winner;
  };
  for (const Case& c : {Case{variant(1, kFast, 2000, 64), variant(2, kSame, 1000, 128), "A=2"},
                        Case{variant(2, kFast, 1000, 128), variant(1, kSame, 2000, 64), "A=2"},
                        Case{variant(1, kFast, 1000, 128), variant(2, kSame, 1000, 64), "A=2"},
                        Case{variant(2, kFast, 1000, 64), variant(1, kSame, 1000, 128), "A=2"},
                        Case{variant(2, kFast), variant(1, kSame), "A=1"}}) {
    EXPECT_EQ(rank({c.fast, c.same}).best().variant.key(), c.winner);
  }
}

TEST(RankFinal, ANoisyVariantMayTieButNotWinWithASlowerMedian) {
  // 2 % slower in the median, but its interval reaches below the fastest.
  const auto noisy = variant(2, {1.02, 0.97, 1.02, 1.03, 0.98, 1.03, 1.02, 1.04}, 10);
  const Answer answer = rank({variant(1, kFast), noisy});
  EXPECT_EQ(answer.best().variant.key(), "A=1");
  EXPECT_THAT(answer.ties, ElementsAre("A=2"));
}

TEST(RankFinal, ASteadyDifferenceInsideTheMarginIsATie) {
  std::vector<double> close = kFast;
  for (double& time_s : close) time_s *= 1.001;
  EXPECT_THAT(rank({variant(1, kFast), variant(2, close)}).ties, ElementsAre("A=2"));
  for (double& time_s : close) time_s *= 1.004;
  EXPECT_TRUE(rank({variant(1, kFast), variant(2, close)}).ties.empty());
}

TEST(RankFinal, TheMarginIsTheSessionsOwn) {
  std::vector<double> close = kFast;
  for (double& time_s : close) time_s *= 1.005;
  const std::vector<MeasuredVariant> both{variant(1, kFast), variant(2, close)};
  EXPECT_TRUE(rank(both, {}, 0.003).ties.empty());
  EXPECT_THAT(rank(both, {}, 0.008).ties, ElementsAre("A=2"));
}

TEST(RankFinal, ManyFinalistsWidenTheIntervalsOfTheTies) {
  // Ten of eleven rounds say slower by 1 %, one says faster: 2.6 standard errors, of two finalists, exclude 0; 3.8, of
  // fourteen, do not.
  std::vector<double> fast(11, 1.0), near(11, 1.01);
  near[4] = 0.985;
  EXPECT_TRUE(rank({variant(1, fast), variant(2, near)}).ties.empty());
  std::vector<MeasuredVariant> many{variant(1, fast), variant(2, near)};
  for (int i = 3; i <= 14; ++i) many.push_back(variant(i, std::vector<double>(11, 2.0)));
  EXPECT_THAT(rank(many).ties, ElementsAre("A=2"));
}

std::vector<Sample> at_clock(std::vector<Sample> samples, double sm_clock_hz) {
  for (Sample& sample : samples) sample.sm_clock_hz = sm_clock_hz;
  return samples;
}

TEST(RankFinal, CyclesTellPowerFromWork) {
  std::vector<double> baseline_s = kFast;
  for (double& time_s : baseline_s) time_s *= 1.1;
  // A few more cycles than the baseline, at a clock 10.7 % higher.
  MeasuredVariant thrifty = variant(1, kFast);
  thrifty.samples = at_clock(thrifty.samples, 1.66e9);
  const Answer power = rank({thrifty}, {{0, at_clock(samples(baseline_s), 1.5e9)}});
  EXPECT_EQ(power.best().verdict, stats::Verdict::kFasterThroughPower);
  EXPECT_NEAR(power.best().cycles_ratio, 1.1 * 1.5 / 1.66, 1e-9);
  EXPECT_LE(power.best().cycles_low, power.best().cycles_ratio);
  EXPECT_GE(power.best().cycles_high, power.best().cycles_ratio);
  EXPECT_DOUBLE_EQ(power.best().sm_clock_hz, 1.66e9);
  EXPECT_DOUBLE_EQ(power.baseline_clock_hz, 1.5e9);

  thrifty.samples = at_clock(thrifty.samples, 1.5e9);
  const Answer work = rank({thrifty}, {{0, at_clock(samples(baseline_s), 1.5e9)}});
  EXPECT_EQ(work.best().verdict, stats::Verdict::kFaster);
  EXPECT_NEAR(work.best().cycles_ratio, 1.1, 1e-9);
}

TEST(RankFinal, EveryFinalistHasItsVerdict) {
  const Answer answer =
      rank({variant(1, kFast), variant(2, kSlow)}, {{0, samples(std::vector<double>(kFast.rbegin(), kFast.rend()))}});
  EXPECT_EQ(answer.ranking[0].verdict, stats::Verdict::kTie);
  EXPECT_EQ(answer.ranking[1].verdict, stats::Verdict::kSlower);
  EXPECT_EQ(answer.best().cycles_ratio, 0) << "no clock was measured";
  EXPECT_EQ(rank({variant(1, kFast)}).best().verdict, stats::Verdict::kUnclear) << "no baseline";
}

TEST(RankFinal, RatiosArePairedWithTheFasterBaseline) {
  std::vector<double> first, best;
  for (const double time_s : kFast) {
    first.push_back(time_s * 1.3);
    best.push_back(time_s * 1.1);
  }
  const Answer answer = rank({variant(1, kFast)}, {{0, samples(first)}, {5, samples(best)}});
  EXPECT_NEAR(answer.best().ratio_to_baseline, 1.1, 1e-9);
  EXPECT_NEAR(answer.best().ratio_low, 1.1, 1e-9);
  EXPECT_NEAR(answer.baseline_first_s, 1.3, 1e-9);
  EXPECT_NEAR(answer.baseline_best_s, 1.1, 1e-9);
  EXPECT_EQ(answer.baseline_algorithm, 5);
}

TEST(RankFinal, EveryPlannedLookWidensThePrintedInterval) {
  const auto width = [](int looks) {
    const Answer answer = rank({variant(1, kFast)}, {{0, samples(kSlow)}}, 0.003, looks);
    return std::log(answer.best().ratio_high / answer.best().ratio_low);
  };
  EXPECT_NEAR(width(4) / width(1), 3.3353 / 2.3646, 1e-3) << "t with 7 degrees, at 98.75 and at 95 %";
}

TEST(RankFinal, RoundsABaselineMissedAreNotPaired) {
  auto baseline = samples({5, 2, 2, 2, 2, 2, 2, 2});
  baseline.erase(baseline.begin());
  auto measured = variant(1, {5, 1, 1, 1, 1, 1, 1, 1});
  const Answer answer = rank({measured}, {{0, baseline}});
  EXPECT_DOUBLE_EQ(answer.best().ratio_low, 2);
  EXPECT_DOUBLE_EQ(answer.best().ratio_high, 2);
}

TEST(RankScreening, RangeOverTheSamplesStandsInForTheInterval) {
  BaselineReport baseline;
  baseline.algorithms = {{0, "first", 0, 3.0, 0}, {1, "best", 0, 2.0, 0}};
  baseline.best = 1;
  Answer answer;
  rank_screening(test_problem(), {variant(2, {1.1, 1.1, 1.1}), variant(1, {0.8, 1.0, 1.25})}, baseline, answer);
  EXPECT_EQ(answer.best().variant.key(), "A=1");
  EXPECT_DOUBLE_EQ(answer.best().ratio_to_baseline, 2);
  EXPECT_DOUBLE_EQ(answer.best().ratio_low, 1.6);
  EXPECT_DOUBLE_EQ(answer.best().ratio_high, 2.5);
  EXPECT_DOUBLE_EQ(answer.baseline_first_s, 3);
}

/// After a final that chose A=1, of whose variants A=1 and A=2 were measured again.
Answer confirm(const std::vector<double>& chosen, const std::vector<double>& runner_up, double margin = 0.005) {
  Answer answer = rank({variant(1, kFast), variant(2, kSlow), variant(3, {2, 2, 2, 2, 2, 2, 2, 2})},
                       {{0, samples({3, 3, 3, 3, 3, 3, 3, 3})}}, margin);
  rank_confirmed(test_problem(), {variant(1, chosen), variant(2, runner_up)},
                 {{{0, samples({1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2})}}, 0, margin, 1}, answer);
  return answer;
}

TEST(RankConfirmed, FiguresAreThoseOfTheConfirmRounds) {
  const Answer answer = confirm(kSame, kSlow);
  EXPECT_EQ(answer.best().variant.key(), "A=1");
  EXPECT_NEAR(answer.best().ratio_to_baseline, 1.2, 0.001);
  EXPECT_EQ(answer.baseline_best_s, 1.2);
  EXPECT_EQ(answer.baseline_first_s, 1.2);
  EXPECT_EQ(answer.confirm_rounds, 8);
  ASSERT_EQ(answer.ranking.size(), 3U);
  EXPECT_EQ(answer.ranking[2].variant.key(), "A=3");
  EXPECT_DOUBLE_EQ(answer.ranking[2].ratio_to_baseline, 1.5) << "not measured again";
}

TEST(RankConfirmed, AFirstChoiceThatIsNotMeasuredAgainKeepsItsTimeOfTheFinal) {
  Answer answer = rank({variant(1, kFast)}, {{0, samples({3, 3, 3, 3, 3, 3})}, {1, samples({2, 2, 2, 2, 2, 2})}});
  rank_confirmed(test_problem(), {variant(1, kFast)}, {{{1, samples({2.1, 2.1, 2.1, 2.1, 2.1, 2.1})}}, 0, 0.005, 1},
                 answer);
  EXPECT_EQ(answer.baseline_best_s, 2.1);
  EXPECT_EQ(answer.baseline_algorithm, 1);
  EXPECT_EQ(answer.baseline_first_s, 3);
}

TEST(RankConfirmed, ARunnerUpAheadByMoreThanTheMarginIsDeclaredAndItsIntervalIsThatOfTwoChoices) {
  const Answer changed = confirm(kSlow, kSame), kept = confirm(kSame, kSlow);
  EXPECT_EQ(changed.best().variant.key(), "A=2");
  EXPECT_TRUE(changed.ties.empty());
  const auto width = [](const RankedVariant& row) { return row.ratio_high - row.ratio_low; };
  EXPECT_GT(width(changed.best()), 1.1 * width(kept.best()));
}

TEST(RankConfirmed, ARunnerUpAheadByLessIsATieWhereTheIntervalAgrees) {
  EXPECT_EQ(confirm(kSame, kFast).best().variant.key(), "A=1");
  EXPECT_THAT(confirm(kSame, kFast).ties, ElementsAre("A=2"));
  // 0.4 % in the mean, certainly not 0, and perhaps 0.6 %.
  const std::vector<double> ahead{0.997, 0.994, 0.998, 0.997, 0.999, 0.994, 0.997, 0.992};
  EXPECT_EQ(confirm({1, 1, 1, 1, 1, 1, 1, 1}, ahead).best().variant.key(), "A=2");
  EXPECT_EQ(confirm({1, 1, 1, 1, 1, 1, 1, 1}, ahead, 0.01).best().variant.key(), "A=1") << "inside the margin";
}

TEST(RankFinal, TooFewRoundsForAnIntervalGiveNoVerdictAndTheFastestWins) {
  const Answer answer =
      rank({variant(1, {1.000, 1.001}, 2000), variant(2, {1.001, 1.000}, 1000)}, {{0, samples({1.2, 1.2})}}, 0.01);
  EXPECT_EQ(answer.best().variant.key(), "A=1") << "not the smaller one";
  EXPECT_EQ(answer.best().verdict, stats::Verdict::kUnclear);
}

}  // namespace
}  // namespace pgtune::session
