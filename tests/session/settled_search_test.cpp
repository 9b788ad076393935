// SPDX-License-Identifier: MIT
// Searches and benches at a GPU's power limit and below it: how they sample, who wins, and what they say of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "powered_search.hpp"
#include "test_bench.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/session/rounds/baseline_rounds.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/features.hpp"

namespace pgtune::session {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

TEST(MetPowerCap, ByTheDriversCounterWhereThereIsOne) {
  Sample sample{.launches = 100, .time_s = 0.25, .sm_clock_hz = 1.4e9};
  sample.power_cap_s = 0.012;
  EXPECT_FALSE(met_power_cap(sample, 1.98e9)) << "whatever the clock";
  sample.power_cap_s = 0.013;
  EXPECT_TRUE(met_power_cap(sample, 0));
}

TEST(MetPowerCap, ElseByAClockUnderTheAllowedOne) {
  Sample sample{.launches = 100, .time_s = 0.25, .sm_clock_hz = 1.93e9};
  EXPECT_FALSE(met_power_cap(sample, 1.98e9));
  EXPECT_TRUE(met_power_cap(sample, 2.0e9));
  EXPECT_FALSE(met_power_cap(sample, 0)) << "no clock is known to be allowed";
  sample.sm_clock_hz = 0;
  EXPECT_FALSE(met_power_cap(sample, 1.98e9)) << "none was measured";
}

TEST(MetPowerCap, SeveralByTheSumOfTheCounter) {
  Sample capped{.time_s = 0.25}, free{.time_s = 0.25};
  capped.power_cap_s = 0.25;
  free.power_cap_s = 0;
  EXPECT_FALSE(at_power_cap({}, 0));
  EXPECT_TRUE(at_power_cap({capped, free}, 0)) << "the counter steps seldom";
  EXPECT_TRUE(at_power_cap({capped, free, capped}, 0));
}

TEST(MetPowerCap, ALockedClockIsTheAllowedOne) {
  for (const double locked_hz : {0.0, 1.4e9}) {
    TestSearch search;
    search.options.conditions.locked_sm_clock_hz = locked_hz;
    auto device = search.device();
    device.device_info.max_sm_clock_hz = 1.98e9;
    device.spoil = [](const protocol::RoundRequest& request, protocol::RoundReport& report) {
      for (auto& sample : report.samples) {
        sample->sm_clock_hz = 1.4e9;
        if (request.settle_s > 0) sample->lead_in_s = request.settle_s;
      }
    };
    const auto result = search.run(device);
    ASSERT_TRUE(result && result->answer);
    EXPECT_EQ(result->answer->sampling, locked_hz > 0 ? Sampling::kShort : Sampling::kSettled);
  }
}

TEST(SettledSearch, AtTheCapTheWinnerIsTheOneFastestAlone) {
  PoweredSearch powered(load_at_the_cap);
  const Answer answer = powered.run();
  EXPECT_EQ(answer.sampling, Sampling::kSettled);
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
  EXPECT_NEAR(answer.best().time_s, kAlone_s, 0.01 * kAlone_s);
  EXPECT_NEAR(answer.best().ratio_to_baseline, 1.05, 0.01);
  EXPECT_EQ(answer.lead_in_s, 0.5);
  EXPECT_EQ(powered.device.rounds[Stage::kSteady].size(), 1U);
  EXPECT_EQ(powered.device.sample_s[Stage::kFinal], 0.25);
  EXPECT_EQ(powered.device.rounds[Stage::kFloor].size(), 0U);
}

TEST(SettledSearch, OneThatOnlyChoosesMeasuresWhatChooses) {
  for (const auto known : {std::optional<Sampling>(), std::optional(Sampling::kSettled)}) {
    PoweredSearch powered(load_at_the_cap);
    powered.search.options.only_chooses = true;
    powered.search.options.sampling = known;
    const Answer answer = powered.run();
    EXPECT_EQ(answer.sampling, Sampling::kSettled);
    EXPECT_EQ(answer.best().variant.key(), kBestKey);
    auto& rounds = powered.device.rounds;
    EXPECT_EQ(rounds[Stage::kSteady].size(), known ? 0U : 1U);
    EXPECT_EQ(rounds[Stage::kFloor].size(), 0U);
    EXPECT_EQ(rounds[Stage::kFinal].size(), 1U);
    EXPECT_EQ(rounds[Stage::kConfirm].size(), 0U);
    for (const Stage stage : {Stage::kRace, Stage::kFinal})
      EXPECT_THAT(rounds[stage], Each(Each(Not(testing::StartsWith("ref"))))) << to_string(stage);
    EXPECT_TRUE(powered.device.verify_requests.empty());
    const StoreKey key{powered.search.problem, powered.search.definition, powered.device.device_info, {}};
    EXPECT_FALSE(powered.search.store.answer(key, Boards::kThisOne));
    EXPECT_FALSE(powered.search.store.trials(key).empty());
  }
}

TEST(ShortSearch, OneThatOnlyChoosesHasNoNoiseFloor) {
  PoweredSearch powered(load_below_the_cap);
  powered.search.options.only_chooses = true;
  powered.search.options.sampling = Sampling::kShort;
  const Answer answer = powered.run();
  EXPECT_EQ(answer.sampling, Sampling::kShort);
  EXPECT_EQ(powered.device.rounds[Stage::kSteady].size(), 0U);
  EXPECT_EQ(powered.device.rounds[Stage::kFloor].size(), 0U);
  EXPECT_GE(powered.device.rounds[Stage::kFinal].size(), 6U);
}

TEST(ShortSearch, AtTheCapAfterAllItSettlesWhateverWasKnown) {
  PoweredSearch powered(load_at_the_cap);
  powered.search.options.sampling = Sampling::kShort;
  EXPECT_EQ(powered.run().sampling, Sampling::kSettled);
}

support::PowerLoad load_of_variants_at_the_cap(const std::string& name) {
  return name.starts_with("ref") ? load_below_the_cap(name) : load_at_the_cap(name);
}

TEST(SettledSearch, WhereOnlyVariantsMeetTheCapItsRoundsAreMadeAgain) {
  PoweredSearch powered(load_of_variants_at_the_cap);
  const Answer answer = powered.run();
  EXPECT_EQ(answer.sampling, Sampling::kSettled);
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
  EXPECT_NEAR(answer.best().time_s, kAlone_s, 0.01 * kAlone_s);
  EXPECT_EQ(answer.lead_in_s, 0.5);
  EXPECT_EQ(answer.floor.margin, 0.005);
  EXPECT_TRUE(answer.complete && answer.from_final);
  EXPECT_THAT(answer.notes, testing::Contains(testing::HasSubstr("made again in settled samples")));
  for (const ContenderSamples& of_one : powered.search.store.rounds[Stage::kFinal].back())
    EXPECT_THAT(of_one.samples, testing::Each(testing::Field(&Sample::lead_in_s, testing::Optional(0.5))));
}

TEST(SettledSearch, AShortBudgetHasAShortSteadyRunThatMeetsTheCapAllTheSame) {
  for (const Sampling sampling : {Sampling::kSettled, Sampling::kShort}) {
    PoweredSearch powered(sampling == Sampling::kSettled ? load_at_the_cap : load_below_the_cap);
    powered.search.options.budget.seconds = 6;
    double begun_s = 0, ended_s = 0;
    powered.device.after_round = [&](Stage stage) {
      if (stage == Stage::kSteady && begun_s == 0) begun_s = powered.device.now_s;
      if (stage == Stage::kSteady || stage == Stage::kFloor) ended_s = powered.device.now_s;
    };
    EXPECT_EQ(powered.run().sampling, sampling);
    EXPECT_GT(begun_s, 0.5);
    EXPECT_LE(begun_s, 0.95);
    EXPECT_LE(ended_s, 1.55) << "a quarter of the budget, and the round that was begun";
  }
}

TEST(SettledSearch, AShortBudgetHasARaceThatRightsWhatScreeningRanks) {
  // Short samples put six rivals, which settle at lower clocks, before the best variant.
  const auto load = [](const std::string& name) {
    if (name == kBestKey || name.starts_with("ref")) return load_at_the_cap(name);
    const bool rival = name.starts_with("A=4") || name.starts_with("A=6");
    return support::settling_load(name, (rival ? 1.04 : 1.3) * kAlone_s, (rival ? 1.25e9 : 1.36e9));
  };
  PoweredSearch powered(load);
  powered.search.options.budget.seconds = 6;
  const Answer answer = powered.run();
  EXPECT_GT(answer.raced, 3);
  EXPECT_EQ(powered.device.rounds[Stage::kRace].size(), 1U);
  EXPECT_EQ(answer.best().variant.key(), kBestKey);
}

TEST(SettledSearch, SoAreThoseOfABench) {
  PoweredSearch powered(load_of_variants_at_the_cap);
  TestBench bench;
  const auto result = bench.run(powered.device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->sampling, Sampling::kSettled);
  EXPECT_EQ(result->answer->ranking.size(), 2U);
  EXPECT_TRUE(powered.device.rounds[Stage::kRace].empty());
}

TEST(SettledSearch, BelowTheCapSamplesAreShort) {
  PoweredSearch powered(load_below_the_cap);
  const Answer answer = powered.run();
  EXPECT_EQ(answer.sampling, Sampling::kShort);
  EXPECT_EQ(powered.device.sample_s[Stage::kFinal], 20e-3);
  EXPECT_FALSE(answer.lead_in_s || answer.best().settled_energy);
  for (const Progress& update : powered.search.progress) EXPECT_EQ(update.settled_rounds_s, 0);
}

TEST(SettledSearch, TheBurstRegimeRestsBetweenSamplesAndHasNoSteadyRun) {
  PoweredSearch powered(load_at_the_cap);
  powered.search.options.conditions.regime = Regime::kBurst;
  EXPECT_EQ(powered.run().sampling, Sampling::kShort) << "nobody runs at what another one earned";
  EXPECT_TRUE(powered.device.rounds[Stage::kSteady].empty());
}

TEST(SettledSearch, RoundsTakeAboutAsLongAsWasToldBefore) {
  PoweredSearch powered(load_at_the_cap);
  (void)powered.run();
  const auto& updates = powered.search.progress;
  const auto first =
      std::find_if(updates.begin(), updates.end(), [](const Progress& update) { return update.settled_rounds_s > 0; });
  ASSERT_NE(first, updates.end());
  EXPECT_EQ(first->phase, Progress::Phase::kSteady) << "before anything else is tried";
  EXPECT_LE(first->settled_rounds_s, kSettledLimit_s);
  const auto race = std::find_if(updates.begin(), updates.end(),
                                 [](const Progress& update) { return update.phase == Progress::Phase::kRace; });
  const auto after = std::find_if(
      race, updates.end(), [](const Progress& update) { return update.phase == Progress::Phase::kVerification; });
  ASSERT_NE(after, updates.end());
  const double took_s = after->elapsed_s - race->elapsed_s;
  EXPECT_LE(took_s, first->settled_rounds_s);
  EXPECT_GT(took_s, 0.5 * first->settled_rounds_s);
  // Confirm rounds are part of what is left when the final begins.
  for (auto update = race; update != after; ++update) {
    const double left_s = after->elapsed_s - update->elapsed_s;
    EXPECT_GE(update->remaining_s.value(), left_s) << update->round;
    EXPECT_LE(update->remaining_s.value(), 1.5 * left_s) << update->round;
  }
  EXPECT_FALSE(first->remaining_s) << "nothing is known of the search yet";
}

TEST(SettledSearch, AsManyAsAskedForHaveASettledSampleOfFullLength) {
  const auto race_of = [](std::size_t entrants) {
    PoweredSearch powered(load_at_the_cap);
    powered.search.options.settled_entrants = entrants;
    (void)powered.run();
    return std::pair{powered.device.rounds[Stage::kRace].at(0).size(), powered.device.sample_s[Stage::kRace]};
  };
  const auto [two, two_s] = race_of(2);
  const auto [more, more_s] = race_of(4);
  EXPECT_EQ(more, two + 2) << "the baseline's algorithms are in both";
  EXPECT_EQ(two_s, 0.25);
  EXPECT_EQ(more_s, 0.25);
}

TEST(SettledSearch, WhomOtherSearchesExpectToKeepItsClockRacesToo) {
  PoweredSearch powered(load_at_the_cap);
  const space::TemplateDefinition& definition = powered.search.definition;
  const auto list = space::legal_variants(definition, powered.search.problem, powered.device.device_info);
  const space::Features features(definition, powered.search.problem, powered.device.device_info);
  auto rows = features.of(list->variants);
  ASSERT_TRUE(rows);
  const auto keeps_its_clock = [](const Variant& variant) { return parameter(variant, "A") >= 7; };
  const auto is_named = [](const std::string& name) { return name.starts_with("A=7") || name.starts_with("A=8"); };
  search::Experience known;
  known.variants = {features.names(),
                    {features.names().size(), std::move(rows->features)},
                    std::vector<double>(list->variants.size(), 0.0)};
  for (const Variant& variant : list->variants) known.log_times.push_back(keeps_its_clock(variant) ? 0 : 0.7);
  const auto clocks = std::make_shared<const search::Predictor>(search::PredictorTrainer({known}).fit_all(1));
  powered.search.options.settled_clocks = [&] { return clocks; };
  powered.search.options.settled_entrants = 2;
  const Answer answer = powered.run();
  EXPECT_EQ(answer.raced, 2);
  const FakeDevice::Names raced = powered.device.rounds[Stage::kRace].back();
  EXPECT_EQ(std::count_if(raced.begin(), raced.end(), is_named), 1) << "beside the fastest";
  EXPECT_EQ(answer.best().variant.key(), kBestKey) << "samples decide";
}

TEST(SettledSearch, ItsSamplesSayWhatALaunchCosts) {
  PoweredSearch powered(load_at_the_cap);
  const Answer answer = powered.run();
  ASSERT_TRUE(answer.best().settled_energy && answer.baseline_settled_energy);
  EXPECT_TRUE(powered.device.energy_requests.empty());
  EXPECT_EQ(answer.best().settled_energy->samples, answer.confirm_rounds);
  EXPECT_NEAR(answer.best().settled_energy->energy_j, 700 * kAlone_s, 0.02 * 700 * kAlone_s);
  EXPECT_NEAR(answer.baseline_settled_energy->energy_j / answer.best().settled_energy->energy_j, 1.05, 0.02);
}

TEST(SettledSearch, TheirJoulesHaveIntervals) {
  PoweredSearch powered(load_at_the_cap);
  const Answer answer = powered.run();
  ASSERT_TRUE(answer.best().settled_energy && answer.baseline_settled_energy);
  const SettledEnergy& own = *answer.best().settled_energy;
  EXPECT_LT(own.low_j, own.energy_j);
  EXPECT_GT(own.high_j, own.energy_j);
  EXPECT_LT(own.high_j / own.low_j, 1.02);
  EXPECT_LE(own.ratio_low, 1.05 * 1.005);
  EXPECT_GE(own.ratio_high, 1.05 * 0.995);
  EXPECT_LT(own.ratio_low, own.ratio_to_baseline);
  EXPECT_GT(answer.baseline_settled_energy->high_j, answer.baseline_settled_energy->low_j);
  EXPECT_EQ(answer.baseline_settled_energy->ratio_to_baseline, 0);
}

/// What a window of `power_w` says; 200 us a launch.
void give_windows(PoweredSearch& powered, double power_w) {
  powered.search.options.measure_energy = true;
  powered.device.energy = [power_w](const protocol::EnergyRequest& request) -> Result<EnergyWindow> {
    EnergyWindow window;
    window.window_s = 5;
    window.uncertainty = 0.01;
    window.energy_j = 80 * window.window_s;
    if (!request.contender) return window;
    const bool is_baseline = variant_of(*request.contender) == nullptr;
    window.per_launch_s = kAlone_s * (is_baseline ? 1.05 : 1);
    window.launches = static_cast<std::int64_t>(window.window_s / window.per_launch_s);
    window.energy_j = power_w * window.window_s;
    return window;
  };
}

TEST(SettledSearch, EnergyWindowsThatAgreeWithItsSamplesSaySo) {
  PoweredSearch powered(load_at_the_cap);
  give_windows(powered, 700);
  const Answer answer = powered.run();
  ASSERT_TRUE(answer.best().energy);
  EXPECT_THAT(answer.notes, Contains(HasSubstr("settled samples agree within their uncertainty of")));
}

TEST(SettledSearch, EnergyIsComparedWithTheAlgorithmThatTimesAreComparedWith) {
  // By screening the first choice is slower; settled, at the cap, it is the faster one.
  PoweredSearch powered([](const std::string& name) {
    if (name == "ref0") return support::settling_load(name, 1.02 * kAlone_s, 1.3e9);
    return load_at_the_cap(name);
  });
  powered.device.baseline.algorithms[0].time_s = 1.1 * kAlone_s;
  powered.device.baseline.best = 1;
  give_windows(powered, 700);
  const Answer answer = powered.run();
  EXPECT_EQ(answer.baseline_algorithm, 0);
  ASSERT_FALSE(powered.device.energy_requests.empty());
  for (const protocol::EnergyRequest& request : powered.device.energy_requests) {
    const BaselineAlgorithm* const algorithm = request.contender ? algorithm_of(*request.contender) : nullptr;
    if (algorithm != nullptr) {
      EXPECT_EQ(algorithm->index, 0);
    }
  }
}

TEST(SettledSearch, EnergyWindowsThatDoNotAgreeSaySoToo) {
  PoweredSearch powered(load_at_the_cap);
  give_windows(powered, 650);
  const Answer answer = powered.run();
  EXPECT_THAT(answer.notes,
              Contains(AllOf(HasSubstr("settled samples differ by more than their uncertainty of"), HasSubstr("J"))));
}

TEST(SettledBench, SamplesAsASearchDoes) {
  PoweredSearch powered(load_at_the_cap);
  TestBench bench;
  bench.search.plan = powered.search.plan;
  bench.request.variants = {session::variant(5, 3), session::variant(4, 3)};
  bench.request.rounds = 24;
  const auto result = bench.run(powered.device);
  ASSERT_TRUE(result && result->answer);
  EXPECT_EQ(result->answer->sampling, Sampling::kSettled);
  EXPECT_EQ(result->answer->best().variant, session::variant(5, 3));
  EXPECT_NEAR(find(*result, session::variant(4, 3))->time_s / result->answer->best().time_s, 1 / kRatioAlone, 0.01);
  EXPECT_TRUE(powered.device.rounds[Stage::kRace].empty());
}

}  // namespace
}  // namespace pgtune::session
