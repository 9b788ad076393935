// SPDX-License-Identifier: MIT
// At the power cap the final only chooses: claims come from fresh rounds of whom it chose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "powered_search.hpp"
#include "test_bench.hpp"
#include "tuner/session/rounds/final.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

/// Makes a contender's samples of the final look faster than it is, by that factor.
void flatter_in_the_final(FakeDevice& device, const std::string& name, double factor) {
  device.spoil = [name, factor](const protocol::RoundRequest& request, protocol::RoundReport& report) {
    if (request.stage != Stage::kFinal) return;
    for (std::size_t i = 0; i < report.samples.size(); ++i) {
      if (contender_name(protocol::contender_of(request.contenders[i])) == name) report.samples[i]->time_s /= factor;
    }
  };
}

/// The rival takes `times` as long as the best one, each alone.
std::function<support::PowerLoad(const std::string&)> with_rival(double times) {
  return [times](const std::string& name) {
    if (name == kRivalKey) return support::settling_load(name, kAlone_s * times, 1.34e9);
    return load_at_the_cap(name);
  };
}

/// So that only the runner-up is near the winner.
void only_the_first_choice(FakeDevice& device) {
  device.baseline.algorithms.resize(1);
  device.baseline.best = 0;
}

std::vector<Sample> saved(const FakeStore& store, Stage stage, const std::string& name) {
  for (const ContenderSamples& contender : store.rounds.at(stage).back()) {
    if (contender_name(contender.contender) == name) return contender.samples;
  }
  return {};
}

TEST(Confirm, TheFinalChoosesInOneRoundAndFreshOnesClaim) {
  PoweredSearch powered(load_at_the_cap);
  flatter_in_the_final(powered.device, kBestKey, 1.1);
  const Answer answer = powered.run();
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
  EXPECT_EQ(powered.device.rounds[Stage::kFinal].size(), 1U);
  const auto rounds = powered.device.rounds[Stage::kConfirm].size();
  EXPECT_EQ(rounds, static_cast<std::size_t>(confirm_rounds(powered.device.rounds[Stage::kConfirm].front().size())));
  EXPECT_EQ(answer.confirm_rounds, static_cast<int>(rounds));
  const auto fresh = saved(powered.search.store, Stage::kConfirm, kBestKey);
  EXPECT_EQ(answer.best().time_s, stats::median(per_launch_times(fresh)));
  EXPECT_NEAR(answer.best().ratio_to_baseline, 1.05, 0.01) << "and not 1.15";
  EXPECT_NEAR(answer.baseline_best_s, 1.05 * kAlone_s, 0.01 * kAlone_s);
  EXPECT_GT(answer.stages.confirm_s, 0);
  EXPECT_EQ(answer.best().verdict, stats::Verdict::kFaster);
}

TEST(Confirm, ARunnerUpOutOfReachIsNotMeasuredAgain) {
  PoweredSearch powered(with_rival(1.03));
  const Answer answer = powered.run();
  EXPECT_THAT(powered.device.rounds[Stage::kConfirm], Each(AllOf(Contains(kBestKey), Not(Contains(kRivalKey)))));
  ASSERT_EQ(answer.ranking.size(), 3U);
  EXPECT_EQ(answer.ranking[1].variant.key(), kRivalKey);
  EXPECT_EQ(answer.ranking[1].verdict, stats::Verdict::kUnclear) << "one round gives no interval";
  EXPECT_THAT(answer.ties, IsEmpty());
}

/// An algorithm that takes 1.05 times as long as the best variant, a first choice that takes `times` as long as that,
/// a third that is far behind, and a rival of the best variant.
struct WithFirstChoice : PoweredSearch {
  explicit WithFirstChoice(double times, double rival_times = 1.001)
      : PoweredSearch([times, rival_times](const std::string& name) {
          if (name == "ref0") return support::settling_load(name, times * 1.05 * kAlone_s, 1.34e9);
          return with_rival(rival_times)(name);
        }) {
    device.baseline.algorithms = {{0, "first", 0, times * 1.05 * kAlone_s, 0.1}, {3, "third", 0, 1.05 * kAlone_s, 0.1}};
  }
};

TEST(Confirm, AnAlgorithmNearTheFastestIsInThemWhereNoVariantIsNearer) {
  WithFirstChoice powered(1.002, 1.009);
  const Answer answer = powered.run();
  EXPECT_THAT(powered.device.rounds[Stage::kConfirm], Each(UnorderedElementsAre(kBestKey, "ref0", "ref1")));
  const auto fresh = saved(powered.search.store, Stage::kConfirm, "ref0");
  EXPECT_EQ(answer.baseline_first_s, stats::median(per_launch_times(fresh)));
  EXPECT_NEAR(answer.baseline_best_s, 1.05 * kAlone_s, 0.01 * kAlone_s);
  EXPECT_THAT(answer.ties, Contains(kRivalKey)) << "one round does not tell it from the winner";
}

TEST(Confirm, AVariantNearTheWinnerIsInThemWhereNoAlgorithmIsNearer) {
  WithFirstChoice powered(1.012);
  (void)powered.run();
  EXPECT_THAT(powered.device.rounds[Stage::kConfirm], Each(UnorderedElementsAre(kBestKey, kRivalKey, "ref1")));
}

TEST(Confirm, AnAlgorithmThatOnlySeemedSlowerInTheFinalIsTheBestAllTheSame) {
  WithFirstChoice powered(0.995, 1.03);
  flatter_in_the_final(powered.device, "ref1", 1.012);
  const Answer answer = powered.run();
  EXPECT_NEAR(answer.baseline_best_s, 0.995 * 1.05 * kAlone_s, 0.005 * kAlone_s);
  EXPECT_EQ(answer.baseline_best_s, answer.baseline_first_s);
}

TEST(Confirm, AWinnerBehindTheRunnerUpIsNotDeclared) {
  PoweredSearch powered(with_rival(1.012));
  only_the_first_choice(powered.device);
  flatter_in_the_final(powered.device, kRivalKey, 1.02);
  const Answer answer = powered.run();
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
  EXPECT_NEAR(answer.best().time_s, kAlone_s, 0.01 * kAlone_s);
  EXPECT_THAT(answer.notes, Contains(AllOf(HasSubstr("the final chose fake/" + std::string(kRivalKey)),
                                           ContainsRegex(" was [0-9.]+ % faster when both were measured again"))));
  EXPECT_EQ(powered.device.rounds[Stage::kConfirm].size(), static_cast<std::size_t>(answer.confirm_rounds))
      << "no further rounds";
}

TEST(Confirm, AWinnerBehindByLessThanTheMarginStaysAndIsATie) {
  PoweredSearch powered(with_rival(1.001));
  only_the_first_choice(powered.device);
  flatter_in_the_final(powered.device, kRivalKey, 1.01);
  const Answer answer = powered.run();
  EXPECT_EQ(answer.best().variant.key(), kRivalKey);
  EXPECT_THAT(answer.ties, UnorderedElementsAre(kBestKey));
  EXPECT_THAT(answer.notes, Not(Contains(HasSubstr("the final chose"))));
}

/// `plan`, but the best variant fails in the third confirm round.
std::function<Script(const Variant&)> failing_in_confirm_rounds(std::function<Script(const Variant&)> plan) {
  return [plan = std::move(plan)](const Variant& variant) {
    Script script = plan(variant);
    if (variant.key() != kBestKey) return script;
    script.fails_in_round = 3;
    script.fails_in = Stage::kConfirm;
    return script;
  };
}

TEST(Confirm, WhoFailsIsOutAndTheNextIsConfirmed) {
  PoweredSearch powered(load_at_the_cap);
  powered.change_scripts(failing_in_confirm_rounds(powered.search.plan));
  const auto result = powered.search.run(powered.device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->best().variant.key(), kRivalKey);
  EXPECT_GE(result->answer->confirm_rounds, 6);
  EXPECT_EQ(result->answer->ranking.size(), 2U);
  EXPECT_EQ(result->counts.failed.at(OutcomeKind::kWrongResult), 1);
}

/// Winner and runner-up are both in the confirm rounds, and `key` fails its verification after them.
struct WithOneThatFailsVerified : WithFirstChoice {
  explicit WithOneThatFailsVerified(const std::string& key) : WithFirstChoice(1.02, 1.006) {
    change_scripts([plan = search.plan, key](const Variant& variant) {
      Script script = plan(variant);
      if (variant.key() == key) script.verified = {OutcomeKind::kWrongResult, "wrong with other data"};
      return script;
    });
  }
};

TEST(Confirm, AWinnerThatFailsItsVerificationLeavesTheRunnerUpWithTheRoundsThatConfirmedBoth) {
  WithOneThatFailsVerified powered(kBestKey);
  const Answer answer = powered.run();
  EXPECT_EQ(powered.device.verify_requests.front().built.variant.key(), kBestKey) << "the winner";
  const auto rounds = powered.device.rounds[Stage::kConfirm];
  EXPECT_THAT(rounds, Each(UnorderedElementsAre(kBestKey, kRivalKey, "ref1"))) << "no further ones";
  EXPECT_EQ(answer.best().variant.key(), kRivalKey);
  EXPECT_EQ(answer.confirm_rounds, static_cast<int>(rounds.size()));
  EXPECT_EQ(answer.best().time_s,
            stats::median(per_launch_times(saved(powered.search.store, Stage::kConfirm, kRivalKey))));
  EXPECT_EQ(answer.ranking.size(), 2U);
  EXPECT_THAT(answer.ties, Not(Contains(kBestKey)));
  EXPECT_THAT(answer.notes, Contains(HasSubstr(" is out: wrong with other data")));
}

TEST(Confirm, ARunnerUpThatFailsItsVerificationLeavesTheWinnerConfirmed) {
  WithOneThatFailsVerified powered(kRivalKey);
  const Answer answer = powered.run();
  EXPECT_EQ(powered.device.verify_requests.front().built.variant.key(), kBestKey) << "the winner";
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
  EXPECT_EQ(answer.confirm_rounds, static_cast<int>(powered.device.rounds[Stage::kConfirm].size()));
  EXPECT_EQ(answer.ranking.size(), 2U);
  EXPECT_THAT(answer.ties, Not(Contains(kRivalKey)));
}

TEST(Confirm, AWinnerThatFailsInThemLeavesTheRunnerUpThatIsInThemToo) {
  WithFirstChoice powered(1.012, 1.006);
  powered.change_scripts(failing_in_confirm_rounds(powered.search.plan));
  const Answer answer = powered.run();
  EXPECT_EQ(answer.best().variant.key(), kRivalKey);
  EXPECT_EQ(answer.ranking.size(), 2U);
  EXPECT_GE(answer.confirm_rounds, 6);
  EXPECT_THAT(answer.notes, Not(Contains(HasSubstr("the final chose"))));
}

TEST(Confirm, ABaselineThatFailsInAllOfThemIsAnErrorUnlessTheyWereStopped) {
  for (const bool stops : {false, true}) {
    PoweredSearch powered(load_at_the_cap);
    powered.device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
      for (std::size_t i = 0; request.stage == Stage::kConfirm && i < request.contenders.size(); ++i) {
        if (algorithm_of(request.contenders[i]) == nullptr) continue;
        report.samples[i].reset();
        report.outcomes[i] = {OutcomeKind::kCrashed, "illegal address"};
      }
    };
    powered.device.after_round = [&](Stage stage) { powered.search.stop = stops && stage == Stage::kConfirm; };
    const auto result = powered.search.run(powered.device);
    ASSERT_EQ(result.has_value(), stops);
    if (stops) {
      EXPECT_FALSE(result->answer->from_final);
    } else {
      EXPECT_THAT(result.error().text(), HasSubstr("in the confirm rounds: the baseline failed in every one of them"));
    }
  }
}

TEST(Confirm, StoppedInThemThereIsNoWholeFinal) {
  PoweredSearch powered(load_at_the_cap);
  powered.device.after_round = [&](Stage stage) { powered.search.stop = stage == Stage::kConfirm; };
  const Answer answer = powered.run();
  EXPECT_FALSE(answer.from_final);
  EXPECT_EQ(answer.confirm_rounds, 0);
  EXPECT_FALSE(answer.complete);
}

TEST(Confirm, IsNotForABenchNorWhereEnergyDecides) {
  TestBench bench;
  PoweredSearch powered(load_at_the_cap);
  bench.search.plan = powered.search.plan;
  bench.request.variants = {variant(5, 3), variant(4, 3)};
  bench.request.rounds = 24;
  ASSERT_TRUE(bench.run(powered.device));
  EXPECT_EQ(powered.device.rounds[Stage::kFinal].size(), 8U);
  EXPECT_THAT(powered.device.rounds[Stage::kConfirm], IsEmpty());

  PoweredSearch energy(load_at_the_cap);
  energy.search.options.objective = Objective::kEnergy;
  (void)energy.run();
  EXPECT_EQ(energy.device.rounds[Stage::kFinal].size(), 8U);
  EXPECT_THAT(energy.device.rounds[Stage::kConfirm], IsEmpty());
}

/// Of steady run, race, final and confirm rounds.
double expected_settled_s(const SessionOptions& options, double launch_s) {
  return expected_sample_s({kSettledSample.sample_s, kLeadInAfterIdling_s}, launch_s) +
         expected_rounds_s(options, launch_s, Sampling::kSettled, std::nullopt);
}

TEST(ExpectedSettled, IsWithinTheLimitForTheMostContenders) {
  for (const double launch_s : {1e-5, 2e-4, 2e-3, 2e-2, 5e-2})
    EXPECT_LE(expected_settled_s({}, launch_s), kSettledLimit_s) << launch_s;
}

TEST(ExpectedSettled, IsTheSumOfThePlannedSamples) {
  // The steady run; 32 variants and 3 algorithms; a round of 3 and 3; 6 rounds of 3. Steady run, race and final each
  // begin after a pause.
  const double coarse_s = expected_sample_s({0.1, 0.1}, 1e-3), settled_s = expected_sample_s(kSettledSample, 1e-3);
  EXPECT_NEAR(coarse_s, 0.296, 1e-9);
  EXPECT_NEAR(settled_s, 0.87, 1e-9);
  const double pauses_s = 1.5 + 1.9 + 1.5;
  EXPECT_NEAR(expected_settled_s({}, 1e-3), pauses_s + 35 * coarse_s + (1 + 6 + 6 * 3) * settled_s, 1e-9);
}

TEST(ExpectedSettled, WithMoreSettledEntrantsCountsThemAtFullLength) {
  SessionOptions options;
  options.settled_entrants = 32;
  const double settled_s = expected_sample_s(kSettledSample, 1e-3);
  const double pauses_s = 1.5 + 1.5 + 1.5;
  EXPECT_NEAR(expected_settled_s(options, 1e-3), pauses_s + (1 + 35 + 6 + 6 * 3) * settled_s, 1e-9);
}

TEST(ConfirmRounds, AreAsManyAsFewContendersAllowAndAnIntervalNeeds) {
  EXPECT_EQ(confirm_rounds(1), 8);
  EXPECT_EQ(confirm_rounds(2), 8);
  EXPECT_EQ(confirm_rounds(3), 6);
  EXPECT_EQ(confirm_rounds(4), 6);
  EXPECT_EQ(confirm_rounds(9), 6);
}

}  // namespace
}  // namespace pgtune::session
