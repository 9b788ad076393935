// SPDX-License-Identifier: MIT
// What a search saves is found again, under its own key only.
#include "tool/pgtune/measuring/database_store.hpp"

#include <gmock/gmock.h>

#include "db/queries/queries.hpp"
#include "tests/tool/store_fixture.hpp"
#include "tuner/session/answer/answered.hpp"

namespace pgtune::tool {
namespace {

using session::SessionKind;
using test::energy;
using test::sample;
using test::store_key;
using test::variant;

class DatabaseStoreTest : public ::testing::Test {
 protected:
  void begin(const session::StoreKey& key, SessionKind kind = SessionKind::kSearch) {
    session::StoreKey of_kind = key;
    of_kind.kind = kind;
    store_.begin(of_kind, 7, "pgtune search");
  }
  std::optional<Ceilings> ceilings_of(const session::StoreKey& key) { return store_.ceilings(key.device); }
  /// Of whatever board.
  std::optional<session::Answer> stored(const session::StoreKey& key) {
    return store_.answer(key, session::Boards::kOfClass);
  }
  db::RowId last_session() { return db::list_sessions(database_).at(0).id; }

  db::Database database_ = db::Database::open_memory();
  DatabaseStore store_{database_};
};

session::Answer answer(const Variant& winner, double time_s) {
  session::Answer answer;
  answer.ranking.emplace_back();
  answer.ranking.front().variant = winner;
  answer.ranking.front().time_s = time_s;
  answer.complete = true;
  return answer;
}

TEST_F(DatabaseStoreTest, AnswersAndTrialsBelongToTheirConditions) {
  session::StoreKey burst = store_key();
  burst.conditions.regime = Regime::kBurst;
  begin(store_key());
  store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
  store_.finish(answer(variant(16), 1));
  EXPECT_FALSE(stored(burst).has_value());
  EXPECT_TRUE(store_.trials(burst).empty());
  begin(burst);
  store_.save_trial(variant(16), test::build("a"), test::good_trial(2));
  store_.finish(answer(variant(16), 2));
  EXPECT_EQ(stored(store_key()).value().best().time_s, 1);
  EXPECT_EQ(stored(burst).value().best().time_s, 2);
  EXPECT_EQ(store_.trials(store_key()).at(variant(16).id()).report, test::good_trial(1));
  EXPECT_EQ(store_.trials(burst).at(variant(16).id()).report, test::good_trial(2));
  EXPECT_EQ(db::list_sessions(database_).at(0).conditions_key, "burst rotated uniform:20231107 observed");
}

TEST_F(DatabaseStoreTest, TrialsAreTheTemplatesAndTheAnswerIsTheSetsThatWasSearched) {
  const Variant other{"wide", {{"BM", std::int64_t{16}}}};
  session::StoreKey both = store_key();
  both.templates = space::TemplateSet({test::tiny("beef", "wide"), test::tiny()});
  begin(both);
  store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
  store_.save_trial(other, test::build("b"), test::good_trial(2));
  store_.save_rounds(Stage::kFinal, {{other, {sample(Stage::kFinal, 1, 2)}}});
  store_.finish(answer(other, 2));
  EXPECT_EQ(stored(both).value().best().variant, other);
  EXPECT_FALSE(stored(store_key()).has_value()) << "nobody searched it alone";
  EXPECT_EQ(store_.trials(both).size(), 2U);
  const auto alone = store_.trials(store_key());
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone.at(variant(16).id()).report, test::good_trial(1));
  const auto rows = db::list_best(database_, {.winner_template = "wide"});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].variant_origin, (db::TemplateRow{"wide", "beef"}));
  EXPECT_EQ(rows[0].template_name, "tiny+wide");
  EXPECT_TRUE(db::list_best(database_, {.winner_template = "tiny"}).empty());
  const auto rounds = db::session_rounds(database_, last_session());
  EXPECT_EQ(std::get<db::VariantRow>(rounds.at(0).contender).origin.name, "wide");
}

TEST_F(DatabaseStoreTest, SamplesOfRacesAreThisBoardsOfTheKindAndTheNewest) {
  session::StoreKey family = store_key();
  family.kind = SessionKind::kFamily;
  session::StoreKey elsewhere = family;
  elsewhere.device.uuid = "GPU-another";
  const auto race = [&](const session::StoreKey& key, double time_s) {
    begin(key, key.kind);
    store_.save_rounds(Stage::kRace, {{variant(16), {sample(Stage::kRace, 1, 9), sample(Stage::kRace, 2, time_s)}}});
    store_.save_rounds(Stage::kFinal, {{variant(32), {sample(Stage::kFinal, 1, 5)}}});
    store_.finish(std::nullopt);
  };
  race(family, 1);
  race(family, 2);
  race(store_key(), 3);
  race(elsewhere, 4);
  const auto raced = store_.raced(family);
  ASSERT_EQ(raced.size(), 1U);
  EXPECT_EQ(raced.at(variant(16).id()).time_s, 2);
}

TEST_F(DatabaseStoreTest, ACompleteAnswerOfTheWholeGridAnswersForThePreset) {
  space::TemplateDefinition definition = test::tiny();
  definition.preset = {{space::Expression::parse("1 == 1").value(), "an opinion"}};
  definition.preset_hash = "preset";
  session::StoreKey preset = store_key();
  preset.templates = space::TemplateSet(definition);
  session::StoreKey whole = preset;
  whole.templates = preset.templates.whole_grid();
  session::Answer partial = answer(variant(16), 3);
  partial.complete = false;
  const auto finish = [&](const session::StoreKey& key, const session::Answer& found) {
    begin(key);
    store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
    store_.finish(found);
  };
  finish(whole, partial);
  EXPECT_EQ(stored(preset).value().best().time_s, 3) << "better than none";
  finish(preset, answer(variant(16), 2));
  EXPECT_EQ(stored(preset).value().best().time_s, 2);
  EXPECT_EQ(stored(whole).value().best().time_s, 3) << "the preset says nothing of the rest";
  finish(whole, answer(variant(16), 1));
  EXPECT_EQ(stored(preset).value().best().time_s, 1);
}

/// The key on another board; `power_limit_w` other than 700: of another class.
session::StoreKey on_board(const std::string& uuid, double power_limit_w = 700) {
  session::StoreKey key = store_key();
  key.device.uuid = uuid;
  key.device.power_limit_w = power_limit_w;
  return key;
}

TEST_F(DatabaseStoreTest, WhatABoardMeasuredCountsForItsClass) {
  begin(on_board("GPU-a"));
  store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
  store_.save_trial(variant(32), test::build("b"), {{OutcomeKind::kWrongResult, "off by one"}, false, {}, {}});
  store_.finish(answer(variant(16), 1));
  const session::StoreKey b = on_board("GPU-b");
  EXPECT_EQ(stored(b).value().board, "GPU-a");
  EXPECT_FALSE(store_.answer(b, session::Boards::kThisOne).has_value());
  EXPECT_EQ(session::stored_answer(store_, b, false).value().board, "GPU-a");
  EXPECT_FALSE(session::stored_answer(store_, b, true).has_value());
  EXPECT_FALSE(store_.trials(b).at(variant(16).id()).on_this_board);
  EXPECT_EQ(store_.trials(b).at(variant(32).id()).report.outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_TRUE(store_.trials(on_board("GPU-a")).at(variant(16).id()).on_this_board);
}

TEST_F(DatabaseStoreTest, TheOwnAnswerIsPreferredToANewerOneOfAnotherBoard) {
  for (const char* board : {"GPU-a", "GPU-b"}) {
    begin(on_board(board));
    store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
    store_.finish(answer(variant(16), 1));
  }
  EXPECT_EQ(session::stored_answer(store_, on_board("GPU-a"), false).value().board, "GPU-a");
  EXPECT_EQ(session::stored_answer(store_, on_board("GPU-c"), false).value().board, "GPU-b");
}

TEST_F(DatabaseStoreTest, UnderAnotherPowerLimitNothingCounts) {
  begin(on_board("GPU-a"));
  store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
  store_.finish(answer(variant(16), 1));
  const session::StoreKey limited = on_board("GPU-a", 500);
  EXPECT_FALSE(stored(limited).has_value());
  EXPECT_TRUE(store_.trials(limited).empty());
}

TEST_F(DatabaseStoreTest, AnotherVersionOfATemplateHasNoTrials) {
  begin(store_key());
  store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
  store_.finish(answer(variant(16), 1));
  session::StoreKey changed = store_key();
  changed.templates = test::tiny("decade");
  EXPECT_TRUE(store_.trials(changed).empty());
  EXPECT_FALSE(stored(changed).has_value());
}

TEST_F(DatabaseStoreTest, ABenchReplacesNeitherAnswerNorTrials) {
  begin(store_key());
  store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
  store_.finish(answer(variant(16), 1));
  begin(store_key(), SessionKind::kBench);
  store_.save_rounds(Stage::kFinal, {{variant(32), {sample(Stage::kFinal, 1, 0.5)}}});
  store_.finish(answer(variant(32), 0.5));
  EXPECT_EQ(stored(store_key()).value().best().variant, variant(16));
  EXPECT_EQ(store_.trials(store_key()).size(), 1U);
  const auto answers = db::list_answers(database_, result_key(store_key(), store_key().templates.id()));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].variant_key, variant(32).key());
}

TEST_F(DatabaseStoreTest, RoundsKeepEveryFieldOfEveryStage) {
  begin(store_key());
  store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
  Sample hot = sample(Stage::kRace, 1, 0.25, 1);
  hot.graph = true;
  hot.temperature_c = 61;
  hot.power_cap_s = 0.125;
  hot.thermal_s = 0.5;
  store_.save_rounds(Stage::kFloor,
                     {{BaselineAlgorithm{2}, {sample(Stage::kFloor, 1, 1, 0), sample(Stage::kFloor, 2, 4, 1)}},
                      {BaselineAlgorithm{2}, {sample(Stage::kFloor, 1, 2, 1), sample(Stage::kFloor, 2, 3, 0)}}});
  store_.save_rounds(Stage::kRace, {{variant(16), {hot}}});
  const auto rounds = db::session_rounds(database_, last_session());
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(std::get<BaselineAlgorithm>(rounds[0].contender).index, 2);
  EXPECT_EQ(rounds[0].samples, (std::vector<Sample>{sample(Stage::kFloor, 1, 1, 0), sample(Stage::kFloor, 1, 2, 1),
                                                    sample(Stage::kFloor, 2, 3, 0), sample(Stage::kFloor, 2, 4, 1)}));
  EXPECT_EQ(rounds[1].samples, std::vector<Sample>{hot});
}

TEST_F(DatabaseStoreTest, EnergyKeepsEveryField) {
  begin(store_key());
  EnergyWindow window{5.1, 3500, 51, 0.1, 0.002, 690.5, 1000, 5e-3, 1.5e9, 0.75, 0.25, 55, 61};
  store_.save_energy({variant(16), 2, window});
  store_.save_energy({BaselineAlgorithm{3}, 0, energy(2)});
  store_.save_energy({std::nullopt, 0, energy(1)});
  const auto rows = db::energy_windows(database_, last_session());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(std::get<db::VariantRow>(rows[0].contender.value()).key, variant(16).key());
  EXPECT_EQ(rows[0].ordinal, 2);
  EXPECT_EQ(rows[0].window, window);
  EXPECT_EQ(std::get<BaselineAlgorithm>(rows[1].contender.value()).index, 3);
  EXPECT_EQ(rows[1].window, energy(2));
  EXPECT_FALSE(rows[2].contender.has_value());
}

TEST_F(DatabaseStoreTest, TrialsOfAFamilyAreKeptFromSearches) {
  session::StoreKey of_family = store_key();
  of_family.kind = SessionKind::kFamily;
  begin(store_key(), SessionKind::kFamily);
  store_.save_trial(variant(16), test::build("a"), test::good_trial(1));
  store_.finish(std::nullopt);
  EXPECT_TRUE(store_.trials(store_key()).empty());
  EXPECT_EQ(store_.trials(of_family).at(variant(16).id()).report, test::good_trial(1));
  begin(store_key());
  store_.save_trial(variant(16), test::build("a"), test::good_trial(2));
  EXPECT_EQ(store_.trials(of_family).at(variant(16).id()).report, test::good_trial(1));
  EXPECT_EQ(store_.trials(store_key()).at(variant(16).id()).report, test::good_trial(2));
}

TEST_F(DatabaseStoreTest, AFamilyAnswersForItsRangeAndOrder) {
  session::StoreKey key = store_key();
  key.kind = SessionKind::kFamily;
  Family family;
  family.problem = key.problem;
  family.conditions = key.conditions;
  family.kernels = {{variant(16), "c0ffee"}};
  family.intervals = {{.last_m = 512, .kernel = 0, .spare = {}, .time_s = 1e-5, .basis = FamilyBasis::kMeasured}};
  store_.save_family(key, family, 7, "pgtune search");
  constexpr auto kClass = session::Boards::kOfClass;
  EXPECT_EQ(store_.family(key, 1, false, kClass), family);
  EXPECT_EQ(store_.family(key, 1, false, session::Boards::kThisOne), family);
  EXPECT_EQ(store_.family(key, 2, false, kClass), std::nullopt);
  EXPECT_EQ(store_.family(key, 1, true, kClass), std::nullopt);
  session::StoreKey smaller = key;
  smaller.problem.m = 256;
  EXPECT_EQ(store_.family(smaller, 1, false, kClass), std::nullopt) << "another range";
  session::StoreKey changed = key;
  changed.templates = test::tiny("other");
  EXPECT_EQ(store_.family(changed, 1, false, kClass), std::nullopt);
  session::StoreKey elsewhere = key;
  elsewhere.device.uuid = "GPU-of-another-board";
  EXPECT_EQ(store_.family(elsewhere, 1, false, kClass), family);
  EXPECT_EQ(store_.family(elsewhere, 1, false, session::Boards::kThisOne), std::nullopt);
  EXPECT_FALSE(stored(store_key())) << "it answers no single M";
}

TEST_F(DatabaseStoreTest, CeilingsAreThoseOfTheDeviceAndDriver) {
  Ceilings ceilings;
  ceilings.dram_bytes_per_s = 4e12;
  ceilings.flops["f32"] = 6e13;
  begin(store_key());
  EXPECT_FALSE(ceilings_of(store_key()).has_value());
  store_.save_ceilings(ceilings);
  EXPECT_EQ(ceilings_of(store_key()), ceilings);
  session::StoreKey other = store_key();
  other.device.driver_version = "590.1";
  EXPECT_FALSE(ceilings_of(other).has_value());
  other = store_key();
  other.problem.m = 1;
  other.conditions.regime = Regime::kBurst;
  EXPECT_EQ(ceilings_of(other), ceilings) << "whatever the problem and conditions";
}

}  // namespace
}  // namespace pgtune::tool
