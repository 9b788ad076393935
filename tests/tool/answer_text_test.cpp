// SPDX-License-Identifier: MIT
#include "tool/pgtune/report/answer_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/tool/store_fixture.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/report/brief_text.hpp"
#include "tool/pgtune/report/energy_view.hpp"
#include "tool/pgtune/report/speed_report.hpp"

namespace pgtune::tool {
namespace {

using session::EnergySummary;
using session::RankedVariant;
using stats::Verdict;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

RankedVariant best_of(Verdict verdict, double low, double ratio, double high) {
  RankedVariant best;
  best.verdict = verdict;
  best.ratio_low = low;
  best.ratio_to_baseline = ratio;
  best.ratio_high = high;
  return best;
}

TEST(AnswerText, IntervalsAreRoundedOutwards) {
  EXPECT_EQ(interval_text(1.0388, 1.0441), "1.038 to 1.045");
  EXPECT_EQ(interval_text(0.9999, 1.0001), "0.999 to 1.001");
  EXPECT_EQ(interval_text(1.038, 1.044), "1.038 to 1.044");  // what three decimals hold stays as it is
  EXPECT_EQ(ratio_text(1.0405, 1.0388, 1.0441), "1.040 (1.038-1.045)");
  EXPECT_EQ(percent_interval_text(1.0388, 1.0441), "103.8-104.5");
  EXPECT_EQ(ratio_text(1.5, 0, 0), "1.500");
}

TEST(AnswerText, EachVerdictSaysWhatItsIntervalAllows) {
  EXPECT_EQ(verdict_text(best_of(Verdict::kFaster, 1.038, 1.04, 1.044), 0.003, true),
            "faster: 1.038 to 1.044 times the speed of cuBLASLt's best");
  EXPECT_EQ(verdict_text(best_of(Verdict::kSlower, 0.9, 0.91, 0.92), 0.003, true),
            "slower: 0.900 to 0.920 times the speed of cuBLASLt's best");
  EXPECT_THAT(verdict_text(best_of(Verdict::kTie, 0.999, 1, 1.001), 0.003, true),
              AllOf(StartsWith("tie: 0.999 to 1.001"), HasSubstr("0.30 %")));
  EXPECT_THAT(verdict_text(best_of(Verdict::kUnclear, 0.95, 1, 1.05), 0.003, true), StartsWith("unclear: 0.950 to"));
  EXPECT_THAT(verdict_text(best_of(Verdict::kFasterThroughPower, 1.01, 1.02, 1.03), 0.003, true),
              AllOf(StartsWith("faster through power: 1.010 to 1.030"), HasSubstr("not in cycles"),
                    HasSubstr("clock ran higher")));
}

TEST(AnswerText, WhatTheRestMayGainIsComparedWithHowFarTheBaselineIsAhead) {
  session::Answer answer;
  answer.from_final = true;
  answer.ranking = {best_of(Verdict::kSlower, 0.93, 0.94, 0.95)};
  EXPECT_EQ(missed_text(0.06, true, answer), "the rest of the presets may gain 6.0 %");
  EXPECT_THAT(missed_text(0.049, false, answer), StartsWith("the rest may gain 4.9 %, less than cuBLASLt is ahead: "));
  answer.ranking = {best_of(Verdict::kTie, 0.99, 1, 1.01)};
  EXPECT_EQ(missed_text(0.001, false, answer), "the rest may gain 0.1 %");
  answer.ranking = {best_of(Verdict::kSlower, 0, 0.94, 0)};  // without an interval
  EXPECT_EQ(missed_text(0.001, false, answer), "the rest may gain 0.1 %");
  answer.ranking = {best_of(Verdict::kSlower, 0.93, 0.94, 0.95)};
  answer.from_final = false;
  EXPECT_EQ(missed_text(0.001, false, answer), "the rest may gain 0.1 %");
}

std::string explained(const RankedVariant& best, int confirm_rounds = 0) {
  session::Answer answer;
  answer.ranking = {best};
  answer.from_final = true;
  answer.floor = {24, 0.0042, 0.0125};
  answer.confirm_rounds = confirm_rounds;
  std::string text;
  for (const std::string& step : explain_verdict(answer, {})) text += step + "\n";
  return text;
}

TEST(VerdictExplanation, SaysWhatWasComparedAndWhichRuleApplied) {
  RankedVariant faster = best_of(Verdict::kFaster, 1.038, 1.04, 1.044);
  EXPECT_EQ(
      explained(faster),
      "In each round of the final both took turns, and the time of cuBLASLt's best was divided by the winner's. The "
      "mean of these ratios is 1.040, and with 95 % confidence it is 1.038 to 1.044.\n"
      "Less than 1.25 % counts as a tie: twice what cuBLASLt's best differed from itself in 24 rounds (+-0.42 %), "
      "and 0.3 % at least.\n"
      "The whole interval is above 1, and not all of it within 0.988 to 1.012: it is faster.\n"
      "No clock was measured: whether it needs fewer clock cycles is not known.\n"
      "Samples were short: contenders take turns without settling the clock.\n");
  faster.cycles_ratio = faster.cycles_low = faster.cycles_high = 1.03;
  EXPECT_THAT(explained(faster, 6), AllOf(StartsWith("In each of 6 rounds that were measured after the final"),
                                          HasSubstr("In clock cycles the ratio is 1.030 (1.030-1.030), above 1 too")));
  RankedVariant power = best_of(Verdict::kFasterThroughPower, 1.01, 1.02, 1.03);
  power.cycles_ratio = power.cycles_high = 1;
  power.cycles_low = 0.99;
  EXPECT_THAT(explained(power), HasSubstr("1.000 (0.990-1.000), and not surely above 1"));
  EXPECT_THAT(explained(best_of(Verdict::kSlower, 0.9, 0.91, 0.92)), HasSubstr("below 1, and not all of it within"));
  EXPECT_THAT(explained(best_of(Verdict::kTie, 1.0005, 1.001, 1.0015)),
              HasSubstr("a tie, on whichever side of 1 it lies"));
  EXPECT_THAT(explained(best_of(Verdict::kUnclear, 0.95, 1, 1.05)),
              HasSubstr("neither a tie nor a difference is shown"));
}

TEST(VerdictExplanation, WithoutAFinalThereIsNone) {
  session::Answer answer;
  answer.ranking = {best_of(Verdict::kFaster, 1.2, 1.2, 1.2)};
  ASSERT_EQ(explain_verdict(answer, {}).size(), 1U);
  EXPECT_THAT(explain_verdict(answer, {}).front(), HasSubstr("before its final was whole"));
}

TEST(AnswerText, AnAlgorithmHasItsPlaceInTheList) {
  BaselineReport baseline;
  baseline.algorithms.resize(4);
  const auto with_rank = [](int rank) {
    AlgorithmReport algorithm;
    algorithm.rank = rank;
    return algorithm;
  };
  EXPECT_EQ(place_text(with_rank(0), baseline), "1 of 4");
  EXPECT_EQ(place_text(with_rank(3), baseline), "4 of 4");
  EXPECT_EQ(place_text(with_rank(-1), baseline), "unlisted");
}

TEST(AnswerText, EnergyIsComparedWhereTheBaselinesIsKnown) {
  session::EnergySummary energy;
  EXPECT_FALSE(energy_json(energy, {}).contains("energy_over_baseline"));
  energy.ratio_to_baseline = 0.5, energy.ratio_low = 0.4, energy.ratio_high = 0.625;
  const auto compared = energy_json(energy, {});
  EXPECT_EQ(compared.at("energy_over_baseline"), 2);
  EXPECT_EQ(compared.at("energy_over_baseline_range"), (nlohmann::json{1.6, 2.5}));
}

TEST(AnswerText, AVerdictHasAColour) {
  session::Answer answer;
  answer.from_final = true;
  const std::map<Verdict, Style> styles{{Verdict::kFaster, Style::kGood},
                                        {Verdict::kFasterThroughPower, Style::kGood},
                                        {Verdict::kSlower, Style::kBad},
                                        {Verdict::kTie, Style::kPlain},
                                        {Verdict::kUnclear, Style::kUnclear}};
  for (const auto& [verdict, style] : styles) {
    answer.ranking = {best_of(verdict, 0.9, 1, 1.1)};
    EXPECT_EQ(verdict_style(answer), style);
  }
  answer.from_final = false;
  answer.ranking = {best_of(Verdict::kFaster, 1.1, 1.2, 1.3)};
  EXPECT_EQ(verdict_style(answer), Style::kUnclear);
}

TEST(AnswerText, ScreeningAloneProvesNothing) {
  EXPECT_THAT(verdict_text(best_of(Verdict::kFaster, 1.2, 1.2, 1.2), 0.003, false),
              AllOf(StartsWith("none"), Not(HasSubstr("faster"))));
}

TEST(AnswerText, CyclesAreToldWhereTheyDiffer) {
  RankedVariant best = best_of(Verdict::kFasterThroughPower, 1.01, 1.02, 1.03);
  EXPECT_EQ(cycles_text(best, 0.003), "");  // not measured
  best.cycles_ratio = 1.021;
  EXPECT_EQ(cycles_text(best, 0.003), "");  // inside the margin
  best.cycles_ratio = 0.995;
  best.cycles_low = 0.99;
  best.cycles_high = 1.0;
  EXPECT_THAT(cycles_text(best, 0.003), AllOf(StartsWith("0.995 (0.990-1.000) in cycles"), HasSubstr("1.020 in time")));
}

TEST(AnswerText, NoiseNamesTheMarginOfTies) {
  EXPECT_EQ(noise_text({24, 0.00075, 0.003}), "baseline against itself +-0.08 % (24 rounds); under 0.30 % is a tie");
  EXPECT_EQ(noise_text({0, 0, 0.003}), "not measured; under 0.30 % is a tie");
}

TEST(AnswerFacts, LinesGoOnUnderTheirText) {
  EXPECT_EQ(fact("note", ""), "");
  const std::string text = fact("note", std::string(60, 'a') + " " + std::string(20, 'b'));
  EXPECT_EQ(text, "note      " + std::string(60, 'a') + "\n          " + std::string(20, 'b') + "\n");
}

session::Answer sampled(Sampling sampling) {
  session::Answer answer;
  answer.from_final = true;
  answer.sampling = sampling;
  answer.ranking.push_back(best_of(Verdict::kFaster, 1.038, 1.04, 1.044));
  return answer;
}

TEST(AnswerText, AFinalSaysHowManyRacedIfAnyDid) {
  session::Answer answer = sampled(Sampling::kShort);
  EXPECT_THAT(answer_facts(answer, {}), AllOf(HasSubstr("1 finalist"), Not(HasSubstr("raced"))));
  answer.raced = 7;
  EXPECT_THAT(answer_facts(answer, {}), HasSubstr("1 finalist of 7 that raced"));
}

TEST(SamplingText, SaysInASentenceHowItWasSampled) {
  EXPECT_EQ(sampling_text(sampled(Sampling::kShort), {}), "short: contenders take turns without settling the clock");
  session::Answer settled = sampled(Sampling::kSettled);
  settled.lead_in_s = 0.544;
  EXPECT_THAT(sampling_text(settled, {}), AllOf(StartsWith("settled: at the power cap"), HasSubstr("(median 0.54 s)")));
  settled.in_graphs = true;
  EXPECT_THAT(sampling_text(settled, {}), testing::EndsWith("(median 0.54 s); launches in CUDA graphs"));
}

TEST(SamplingText, InTheBurstRegimeSamplesFollowARest) {
  Conditions conditions;
  conditions.regime = Regime::kBurst;
  EXPECT_THAT(sampling_text(sampled(Sampling::kShort), conditions), HasSubstr("follows a rest"));
}

TEST(SamplingText, NothingWithoutAFinal) {
  session::Answer answer = sampled(Sampling::kSettled);
  answer.from_final = false;
  EXPECT_EQ(sampling_text(answer, {}), "");
}

TEST(AnswerFacts, JoulesOfSettledSamplesWithTheirOrigin) {
  session::Answer answer = sampled(Sampling::kSettled);
  EXPECT_THAT(energy_facts(answer), Not(HasSubstr("joules")));
  answer.ranking.front().settled_energy = session::SettledEnergy{8, 700, 0.2e-3, 0.1401, 0.1395, 0.1407};
  answer.baseline_settled_energy = session::SettledEnergy{8, 690, 0.21e-3, 0.1449, 0.1445, 0.1453};
  EXPECT_THAT(energy_facts(answer),
              AllOf(HasSubstr("joules    140.1 mJ (139.5 to 140.7) per launch, 0.967 of cuBLASLt's 144.9 mJ:\n"),
                    HasSubstr("power times time of 8 settled samples\n")))
      << "too few pairs for an interval of the ratio";
  session::SettledEnergy& energy = *answer.ranking.front().settled_energy;
  energy.ratio_to_baseline = 1 / 0.967;
  energy.ratio_low = 1 / 0.971;
  energy.ratio_high = 1 / 0.963;
  EXPECT_THAT(energy_facts(answer),
              HasSubstr("joules    140.1 mJ (139.5 to 140.7) per launch, 0.967 (0.963 to 0.971) of"));
  EXPECT_EQ(settled_energy_json(energy)["ratio_interval"], nlohmann::json({1 / 0.971, 1 / 0.963}));
}

EnergySummary energy_of(double low, double high) {
  EnergySummary energy;
  energy.ratio_to_baseline = (low + high) / 2;
  energy.ratio_low = low;
  energy.ratio_high = high;
  energy.uncertainty = 0.005;
  return energy;
}

TEST(EnergyView, TheVerdictNeedsMoreThanBothUncertainties) {
  EnergySummary baseline;
  baseline.uncertainty = 0.005;
  EXPECT_EQ(energy_verdict(energy_of(1.25, 1.6), baseline, "cuBLASLt"),
            "less energy per launch: 0.625 to 0.800 of cuBLASLt's");
  EXPECT_THAT(energy_verdict(energy_of(0.8, 0.9), baseline, "cuBLASLt"),
              StartsWith("more energy per launch: 1.111 to 1.250"));
  EXPECT_THAT(energy_verdict(energy_of(1.005, 1.02), baseline, "cuBLASLt"),
              AllOf(StartsWith("energy per launch within the noise"), HasSubstr("0.5 %")));
  EXPECT_THAT(energy_verdict(energy_of(0.99, 1.05), baseline, "cuBLASLt"),
              StartsWith("energy per launch within the noise"));
}

TEST(EnergyView, ASuspectSensorProvesNothing) {
  EnergySummary baseline;
  EnergySummary suspect = energy_of(1.5, 1.6);
  suspect.suspect = true;
  EXPECT_THAT(energy_verdict(suspect, baseline, "cuBLASLt"), StartsWith("energy is no evidence"));
  baseline.suspect = true;
  EXPECT_THAT(energy_verdict(energy_of(1.5, 1.6), baseline, "cuBLASLt"), StartsWith("energy is no evidence"));
}

TEST(EnergyView, CellsShareOneUnit) {
  Problem problem;
  problem.m = problem.n = problem.k = 1000;
  EnergySummary energy;
  energy.energy_j = 0.9995;
  energy.low_j = 0.9985;
  energy.high_j = 1.0012;
  energy.power_w = 650.4;
  energy.time_s = 1e-3;
  const auto cells = energy_cells(energy, problem);
  ASSERT_EQ(cells.size(), energy_columns("TFLOP/s").size());
  EXPECT_EQ(cells[0], "2.00");      // TFLOP/s
  EXPECT_EQ(cells[1], "650");       // W
  EXPECT_EQ(cells[2], "999.5 mJ");  // of one launch
  EXPECT_EQ(cells[3], "998.5-1001");
  EXPECT_EQ(cells[4], "2.00");  // GFLOP/J
  EXPECT_EQ(cells[5], "-");     // no clock was measured
  EXPECT_EQ(cells[6], "-");     // nor the cap
}

TEST(AnswerText, OtherVersionsAreNamedWithBothHashes) {
  EXPECT_EQ(versions_text({}), "");
  EXPECT_EQ(versions_text({{"a", "11111111ffff", "aaaaaaaa2222"}, {"c", "33333333ffff", "cccccccc2222"}}),
            "measured with another version of a (11111111, here aaaaaaaa), c (33333333, here cccccccc) than this "
            "build's: a hint, not a measurement of this build's kernels");
}

/// One that is `ratio` times as fast as the baseline's best, which is `first` times as fast as its first.
StoredResult result_of(double ratio, double first) {
  StoredResult result;
  result.problem = test::store_key().problem;
  result.answer.ranking = {best_of(Verdict::kFaster, ratio, ratio, ratio)};
  result.answer.baseline_best_s = 0.5;
  result.answer.baseline_first_s = 0.5 * first;
  return result;
}

TEST(KindSummaries, HaveTheGeometricMeansOfTheBaselinesBestAndOfItsFirst) {
  const StoredResult slow = result_of(1, 2), fast = result_of(4, 3);
  const std::vector<KindSummary> kinds = summarise_kinds({&slow, &fast});
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].problems, 2U);
  EXPECT_NEAR(kinds[0].percent_of_best, 200, 1e-9);
  EXPECT_NEAR(kinds[0].percent_of_first, 100 * std::sqrt(2 * 12.0), 1e-9);
  EXPECT_EQ(kinds[0].least_percent, 100);
  EXPECT_EQ(kinds[0].most_percent, 400);
}

}  // namespace
}  // namespace pgtune::tool
