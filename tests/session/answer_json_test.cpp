// SPDX-License-Identifier: MIT
#include "tuner/session/answer_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test_search.hpp"

namespace pgtune::session {
namespace {

TEST(AnswerJson, SurvivesTheRoundTrip) {
  TestSearch search;
  search.plan = plain_but([](const Variant& variant, Script& script) {
    if (parameter(variant, "A") == 2) script.trial = {OutcomeKind::kCrashed, "illegal address"};
  });
  auto device = search.device();
  const auto result = search.run(device);
  ASSERT_TRUE(result && result->answer);
  const nlohmann::json written = *result->answer;
  const auto read = nlohmann::json::parse(written.dump()).get<Answer>();
  EXPECT_EQ(nlohmann::json(read), written);
  EXPECT_EQ(read.best().variant, result->answer->best().variant);
  EXPECT_EQ(read.best().time_s, result->answer->best().time_s);
  EXPECT_EQ(read.baseline, result->answer->baseline);
  EXPECT_EQ(read.counts.failed, result->answer->counts.failed);
  EXPECT_EQ(read.ranking.size(), result->answer->ranking.size());
  EXPECT_TRUE(read.complete && read.from_final);
}

TEST(AnswerJson, NamesFailuresAsOutcomes) {
  CountsRecord counts;
  counts.space = 10;
  counts.failed[OutcomeKind::kWrongResult] = 3;
  const nlohmann::json json = counts;
  EXPECT_EQ(json.at("failed").dump(), R"({"wrong_result":3})");
  nlohmann::json unknown = json;
  unknown["failed"]["melted"] = 1;
  EXPECT_THROW(unknown.get<CountsRecord>(), nlohmann::json::exception);
}

TEST(AnswerJson, IntervalIsAPair) {
  RankedVariant row;
  row.ratio_low = 0.9;
  row.ratio_high = 1.1;
  EXPECT_EQ(nlohmann::json(row).at("ratio_interval").dump(), "[0.9,1.1]");
}

TEST(AnswerJson, AMissingFieldThrows) {
  EXPECT_THROW(nlohmann::json::parse(R"({"ranking": []})").get<Answer>(), nlohmann::json::exception);
}

EnergySummary some_energy() { return {3, 0.5, 0.49, 0.52, 690, 7.5e-4, 1.5e9, 0.75, 0.004, true, 1.1, 1.09, 1.12}; }

TEST(AnswerJson, EveryFieldSurvives) {
  Answer answer;
  RankedVariant row;
  row.variant = {"t", {{"A", std::int64_t{1}}}};
  row.smem_bytes = 98304;
  row.cycles_ratio = 1.01;
  row.cycles_low = 0.99;
  row.cycles_high = 1.03;
  row.sm_clock_hz = 1.5e9;
  row.verdict = stats::Verdict::kFasterThroughPower;
  row.energy = some_energy();
  row.pareto = true;
  answer.ranking = {row, RankedVariant{}};
  answer.ties = {"A=2"};
  answer.baseline_first_s = 2e-3;
  answer.baseline_best_s = 1e-3;
  answer.baseline_clock_hz = 1.4e9;
  answer.objective = Objective::kEnergyDelayProduct;
  answer.floor = {24, 0.002, 0.004};
  answer.stages = {1, 2, 3, 4, 5, 6, 7, 8};
  answer.confirm_rounds = 8;
  answer.raced = 27;
  answer.voided_rounds = 2;
  answer.baseline_energy = some_energy();
  answer.idle_power_w = 82;
  answer.notes = {"one", "two"};

  const auto read = nlohmann::json::parse(nlohmann::json(answer).dump()).get<Answer>();
  EXPECT_EQ(read.best().cycles_ratio, 1.01);
  EXPECT_EQ(read.best().cycles_low, 0.99);
  EXPECT_EQ(read.best().cycles_high, 1.03);
  EXPECT_EQ(read.best().verdict, stats::Verdict::kFasterThroughPower);
  EXPECT_EQ(read.best().sm_clock_hz, 1.5e9);
  EXPECT_EQ(read.best().smem_bytes, 98304);
  EXPECT_EQ(read.ties, answer.ties);
  EXPECT_EQ(read.baseline_first_s, 2e-3);
  EXPECT_EQ(read.baseline_best_s, 1e-3);
  EXPECT_EQ(read.baseline_clock_hz, 1.4e9);
  ASSERT_EQ(read.ranking.size(), 2U);
  EXPECT_EQ(read.best().variant, row.variant);
  EXPECT_FALSE(read.ranking[1].smem_bytes);
  EXPECT_TRUE(read.ranking[0].pareto);
  EXPECT_FALSE(read.ranking[1].energy);
  EXPECT_EQ(read.objective, Objective::kEnergyDelayProduct);
  EXPECT_EQ(read.floor.rounds, 24);
  EXPECT_EQ(read.floor.half_width, 0.002);
  EXPECT_EQ(read.floor.margin, 0.004);
  EXPECT_EQ(read.stages.screen_s, 1);
  EXPECT_EQ(read.stages.floor_s, 2);
  EXPECT_EQ(read.stages.race_s, 3);
  EXPECT_EQ(read.stages.final_s, 4);
  EXPECT_EQ(read.stages.confirm_s, 5);
  EXPECT_EQ(read.stages.verify_s, 6);
  EXPECT_EQ(read.stages.prepare_s, 7);
  EXPECT_EQ(read.stages.steady_s, 8);
  EXPECT_EQ(read.confirm_rounds, 8);
  EXPECT_EQ(read.raced, 27);
  EXPECT_EQ(read.voided_rounds, 2);
  EXPECT_EQ(read.idle_power_w, 82);
  EXPECT_EQ(read.notes, answer.notes);
  for (const auto& energy : {read.ranking[0].energy, read.baseline_energy}) {
    ASSERT_TRUE(energy);
    const EnergySummary want = some_energy();
    EXPECT_EQ(energy->windows, want.windows);
    EXPECT_EQ(energy->energy_j, want.energy_j);
    EXPECT_EQ(energy->low_j, want.low_j);
    EXPECT_EQ(energy->high_j, want.high_j);
    EXPECT_EQ(energy->power_w, want.power_w);
    EXPECT_EQ(energy->time_s, want.time_s);
    EXPECT_EQ(energy->sm_clock_hz, want.sm_clock_hz);
    EXPECT_EQ(energy->power_cap_share, want.power_cap_share);
    EXPECT_EQ(energy->uncertainty, want.uncertainty);
    EXPECT_TRUE(energy->suspect);
    EXPECT_EQ(energy->ratio_to_baseline, want.ratio_to_baseline);
    EXPECT_EQ(energy->ratio_low, want.ratio_low);
    EXPECT_EQ(energy->ratio_high, want.ratio_high);
  }
}

nlohmann::json with_a_winner() {
  Answer answer;
  answer.ranking.resize(1);
  return answer;
}

TEST(AnswerJson, ReadingReplacesTheWholeAnswer) {
  Answer read;
  read.ranking.resize(3);
  read.objective = Objective::kEnergy;
  read.idle_power_w = 1;
  with_a_winner().get_to(read);
  EXPECT_EQ(read.ranking.size(), 1U);
  EXPECT_EQ(read.objective, Objective::kTime);
  EXPECT_FALSE(read.idle_power_w);
}

TEST(AnswerJson, OneWithoutAWinnerThrows) {
  nlohmann::json answer = with_a_winner();
  answer["ranking"] = nlohmann::json::array();
  EXPECT_THROW(answer.get<Answer>(), nlohmann::json::exception);
}

TEST(AnswerJson, UnknownWordsThrow) {
  nlohmann::json answer = with_a_winner();
  answer["objective"] = "beauty";
  EXPECT_THROW(answer.get<Answer>(), nlohmann::json::exception);
  answer["objective"] = "edp";
  EXPECT_EQ(answer.get<Answer>().objective, Objective::kEnergyDelayProduct);
  answer["ranking"][0]["verdict"] = "splendid";
  EXPECT_THROW(answer.get<Answer>(), nlohmann::json::exception);
}

}  // namespace
}  // namespace pgtune::session
