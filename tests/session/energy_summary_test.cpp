// SPDX-License-Identifier: MIT
#include "tuner/session/answer/energy.hpp"
#include "tuner/session/rounds/energy.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace pgtune::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A window of `per_launch_j` joules and `per_launch_s` seconds for each launch.
EnergyWindow energy(double per_launch_j, double per_launch_s = 1e-3) {
  EnergyWindow out;
  out.window_s = 5;
  out.energy_j = per_launch_j / per_launch_s * out.window_s;
  out.per_launch_s = per_launch_s;
  out.launches = 1000;
  out.sm_clock_hz = 1.5e9;
  out.uncertainty = 0.002;
  return out;
}

RankedVariant row(const std::string& name, double time_s, std::optional<EnergySummary> energy) {
  RankedVariant out;
  out.variant = {"t", {{"NAME", name}}};
  out.time_s = time_s;
  out.energy = std::move(energy);
  return out;
}

EnergySummary energy(double low_j, double median_j, double high_j, double time_s = 1e-3) {
  EnergySummary out;
  out.windows = 3;
  out.energy_j = median_j;
  out.low_j = low_j;
  out.high_j = high_j;
  out.time_s = time_s;
  return out;
}

std::vector<std::string> names(const std::vector<RankedVariant>& ranked) {
  std::vector<std::string> out;
  for (const RankedVariant& row : ranked) out.push_back(std::get<std::string>(*row.variant.find("NAME")));
  return out;
}

TEST(EnergySummary, MedianRangeAndRatioToTheNeighbours) {
  std::vector<NeighbouredWindow> windows{{energy(0.50), energy(0.60), energy(0.64)},
                                         {energy(0.52), energy(0.64), energy(0.66)},
                                         {energy(0.48), energy(0.66), energy(0.70)}};
  windows[1].window.power_cap_share = 0.5;
  windows[2].window.uncertainty = 0.008;
  const auto summary = summarise_energy(windows);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->windows, 3);
  EXPECT_DOUBLE_EQ(summary->energy_j, 0.50);
  EXPECT_DOUBLE_EQ(summary->low_j, 0.48);
  EXPECT_DOUBLE_EQ(summary->high_j, 0.52);
  EXPECT_DOUBLE_EQ(summary->power_w, 500);
  EXPECT_DOUBLE_EQ(summary->time_s, 1e-3);
  EXPECT_DOUBLE_EQ(summary->sm_clock_hz, 1.5e9);
  EXPECT_EQ(summary->power_cap_share, 0.5);
  EXPECT_DOUBLE_EQ(summary->uncertainty, 0.008);
  EXPECT_FALSE(summary->suspect);
  EXPECT_DOUBLE_EQ(summary->ratio_low, 0.62 / 0.50);
  EXPECT_DOUBLE_EQ(summary->ratio_to_baseline, 0.65 / 0.52);
  EXPECT_DOUBLE_EQ(summary->ratio_high, 0.68 / 0.48);
}

TEST(EnergySummary, OneNeighbourIsEnoughAndNoneGivesNoRatio) {
  EXPECT_DOUBLE_EQ(summarise_energy({{energy(0.5), energy(0.6), std::nullopt}})->ratio_to_baseline, 1.2);
  EXPECT_DOUBLE_EQ(summarise_energy({{energy(0.5), std::nullopt, energy(0.7)}})->ratio_to_baseline, 1.4);
  EXPECT_EQ(summarise_energy({{energy(0.5)}})->ratio_to_baseline, 0);
  EXPECT_EQ(summarise_energy({{energy(0.5)}})->power_cap_share, std::nullopt);
}

TEST(EnergySummary, NothingWithoutALoad) {
  EXPECT_FALSE(summarise_energy({}));
  EnergyWindow idle;
  idle.window_s = 5;
  idle.energy_j = 400;
  EXPECT_FALSE(summarise_energy({{idle}}));
}

TEST(EnergySummary, OneSuspectWindowMakesItSuspect) {
  std::vector<NeighbouredWindow> windows{{energy(0.5)}, {energy(0.5)}};
  windows[1].window.averaged_power_w = 450;  // the counter says 500
  EXPECT_TRUE(summarise_energy(windows)->suspect);
  windows[1].window.averaged_power_w = 490;
  EXPECT_FALSE(summarise_energy(windows)->suspect);
}

TEST(Objective, TimeMovesNothing) {
  std::vector<RankedVariant> ranked{row("a", 1, energy(2, 2, 2)), row("b", 2, energy(1, 1, 1))};
  const auto choice = choose_by_objective(Objective::kTime, ranked);
  EXPECT_THAT(names(ranked), ElementsAre("a", "b"));
  EXPECT_THAT(choice.ties, IsEmpty());
  EXPECT_FALSE(choice.note);
}

TEST(Objective, EnergyOrdersAndLeavesTheUnmeasuredLast) {
  std::vector<RankedVariant> ranked{row("unknown", 0.5, std::nullopt), row("fast", 1, energy(2.9, 3, 3.1)),
                                    row("lean", 3, energy(0.9, 1, 1.1)), row("middle", 2, energy(1.9, 2, 2.1))};
  const auto choice = choose_by_objective(Objective::kEnergy, ranked);
  EXPECT_THAT(names(ranked), ElementsAre("lean", "middle", "fast", "unknown"));
  EXPECT_THAT(choice.ties, IsEmpty());
  EXPECT_EQ(choice.note, "the energy of a launch decided");
}

TEST(Objective, EnergyDelayProductWeighsTheTimeOfTheWindows) {
  std::vector<RankedVariant> ranked{row("lean", 1, energy(1.0, 1.0, 1.0, 3)),
                                    row("quick", 1, energy(2.0, 2.0, 2.0, 1))};
  EXPECT_THAT(choose_by_objective(Objective::kEnergyDelayProduct, ranked).note,
              testing::Optional(HasSubstr("energy times time")));
  EXPECT_THAT(names(ranked), ElementsAre("quick", "lean"));
  (void)choose_by_objective(Objective::kEnergy, ranked);
  EXPECT_THAT(names(ranked), ElementsAre("lean", "quick"));
}

TEST(Objective, OverlappingRangesAreTiesAndTheFasterWins) {
  // "wide" overlaps the best though "narrow" before it does not.
  std::vector<RankedVariant> ranked{row("wide", 1, energy(1.0, 1.4, 1.8)), row("narrow", 2, energy(1.25, 1.3, 1.35)),
                                    row("best", 3, energy(1.1, 1.15, 1.2))};
  const auto choice = choose_by_objective(Objective::kEnergy, ranked);
  EXPECT_THAT(names(ranked), ElementsAre("wide", "best", "narrow"));
  EXPECT_THAT(choice.ties, ElementsAre("NAME=best"));
  EXPECT_EQ(choice.note, "the energy of a launch decided, between ties the time");
}

TEST(Objective, WithoutAnyEnergyTheOrderStays) {
  std::vector<RankedVariant> ranked{row("a", 1, std::nullopt), row("b", 2, std::nullopt)};
  const auto choice = choose_by_objective(Objective::kEnergy, ranked);
  EXPECT_THAT(names(ranked), ElementsAre("a", "b"));
  EXPECT_THAT(choice.note, testing::Optional(HasSubstr("the time decided")));
}

/// Windows and settled samples of a winner, of half a joule, and of a baseline whose figures agree.
Answer measured_twice(double uncertainty) {
  Answer out;
  out.ranking = {row("best", 1e-3, energy(0.5, 0.5, 0.5))};
  out.ranking[0].energy->uncertainty = uncertainty;
  out.ranking[0].settled_energy = {6, 500, 1e-3, 0.51, 0.505, 0.515};
  out.baseline_energy = energy(0.6, 0.6, 0.6);
  out.baseline_energy->uncertainty = 0.05;
  out.baseline_settled_energy = {6, 500, 1e-3, 0.6, 0.6, 0.6};
  return out;
}

TEST(EnergyAgreement, IsWithinTheUncertaintyOfBoth) {
  EXPECT_EQ(energy_agreement(measured_twice(0.02)),
            "energy windows and settled samples agree within their uncertainty of 3.0 %: 0.5 J and 0.51 J a launch of "
            "the winner");
  EXPECT_THAT(*energy_agreement(measured_twice(0.01)), HasSubstr("differ by more than their uncertainty of 2.0 %"));
  Answer other = measured_twice(0.02);
  other.baseline_settled_energy->energy_j = 0.66;
  EXPECT_THAT(*energy_agreement(other), HasSubstr("differ by more than their uncertainty of 5.0 %: 0.6 J and 0.66 J a "
                                                  "launch of the baseline"));
}

TEST(EnergyAgreement, NeedsAllFourFigures) {
  const std::vector<std::function<void(Answer&)>> lacks{
      [](Answer& answer) { answer.ranking[0].energy.reset(); },
      [](Answer& answer) { answer.ranking[0].settled_energy.reset(); },
      [](Answer& answer) { answer.baseline_energy.reset(); },
      [](Answer& answer) { answer.baseline_settled_energy.reset(); },
      [](Answer& answer) { answer.ranking[0].energy->energy_j = 0; },
      [](Answer& answer) { answer.baseline_energy->energy_j = 0; }};
  for (std::size_t i = 0; i < lacks.size(); ++i) {
    Answer answer = measured_twice(0.02);
    lacks[i](answer);
    EXPECT_EQ(energy_agreement(answer), std::nullopt) << i;
  }
}

TEST(Pareto, HoldsWhomNobodyBeatsInBoth) {
  std::vector<RankedVariant> ranked{row("fast", 1, energy(3, 3, 3)),     row("lean", 3, energy(1, 1, 1)),
                                    row("beaten", 3.5, energy(2, 2, 2)), row("as lean, slower", 4, energy(1, 1, 1)),
                                    row("unknown", 0.1, std::nullopt),   row("twin", 1, energy(3, 3, 3))};
  ranked[2].pareto = true;  // an older mark goes
  mark_pareto(ranked);
  std::vector<std::string> list;
  for (const RankedVariant& row : ranked) {
    if (row.pareto) list.push_back(names({row}).front());
  }
  EXPECT_THAT(list, ElementsAre("fast", "lean", "twin"));
}

TEST(SettledEnergySummary, CountsSettledSamplesWithAPowerAlone) {
  std::vector<Sample> samples;
  for (int round = 1; round <= 8; ++round)
    samples.push_back({.round = round, .launches = 100, .time_s = 0.1, .lead_in_s = 0.2, .power_w = 400});
  samples[0].power_w = 0, samples[1].power_w.reset(), samples[2].lead_in_s.reset();
  EXPECT_FALSE(settled_energy(samples, {}, 1)) << "five are too few";
  samples[2].lead_in_s = 0.2;
  const auto summary = settled_energy(samples, {}, 1);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->samples, 6);
  EXPECT_NEAR(summary->energy_j, 0.4, 1e-12);
  EXPECT_EQ(summary->ratio_to_baseline, 0) << "the baseline has none";
}

}  // namespace
}  // namespace pgtune::session
