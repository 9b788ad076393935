// SPDX-License-Identifier: MIT
// T4 files and caches of Kernel Tuner: read, stored, written, and used as tables for simulations.
#include "simulate/program/foreign_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "simulate/program/foreign_conversion.hpp"
#include "simulate/program/t4_results.hpp"
#include "tuner/util/json_reader.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCorpus = PGTUNE_SOURCE_DIR "/simulate/tests/fuzz/corpus/foreign_table/";

ForeignTable corpus_file(const std::string& name) {
  auto table = parse_foreign_table(read_file(kCorpus + name).value(), name);
  EXPECT_TRUE(table) << table.error().text();
  return std::move(table).value();
}

RecordedTable corpus_table(const std::string& name) { return simulated_table(corpus_file(name), name); }

OutcomeKind outcome_of(const RecordedTable& table, const std::string& key) {
  for (std::size_t i = 0; i < table.table.variants.size(); ++i) {
    if (table.table.variants[i].key() == key) return table.table.observations[i].outcome;
  }
  ADD_FAILURE() << key << " is not there";
  return OutcomeKind::kOk;
}

/// Times go through milliseconds, which costs the last bit.
void expect_same(const ForeignTable& table, const ForeignTable& expected) {
  ForeignTable rounded = table;
  ASSERT_EQ(rounded.rows.size(), expected.rows.size());
  for (ForeignTable::Row& row : rounded.rows) {
    // A cache has its rows in the order of their keys.
    const auto same = std::find_if(expected.rows.begin(), expected.rows.end(),
                                   [&](const ForeignTable::Row& other) { return other.values == row.values; });
    ASSERT_NE(same, expected.rows.end());
    EXPECT_DOUBLE_EQ(row.time_s, same->time_s);
    EXPECT_DOUBLE_EQ(row.compile_s, same->compile_s);
    EXPECT_THAT(row.times_s, ::testing::Pointwise(::testing::DoubleEq(), same->times_s));
    EXPECT_EQ(row.outcome, same->outcome);
    EXPECT_EQ(row.cut, same->cut);
  }
  rounded.rows = expected.rows;
  EXPECT_EQ(rounded, expected);
}

ForeignTable written_and_read(const ForeignTable& table, ForeignFormat format) {
  auto again = parse_foreign_table(write_foreign_table(table, format), "again");
  EXPECT_TRUE(again) << again.error().text();
  return std::move(again).value();
}

TEST(ForeignTables, AKernelTunerCacheHasItsTimesAndFailures) {
  const RecordedTable table = corpus_table("kernel_tuner.json");
  EXPECT_EQ(table.title(), "gemm [4096,4096]");
  EXPECT_EQ(table.device.name, "NVIDIA A100");
  EXPECT_EQ(table.table.variants.size(), 6U);
  EXPECT_DOUBLE_EQ(table.table.best_s().value(), 1.25e-3);
  EXPECT_DOUBLE_EQ(table.table.worst_s().value(), 2.5e-3);
  EXPECT_EQ(outcome_of(table, "BX=16,MODE=1.5"), OutcomeKind::kInvalid);
  EXPECT_EQ(outcome_of(table, "BX=32,MODE=1.5"), OutcomeKind::kCompileFailed);
  EXPECT_EQ(outcome_of(table, "BX=64,MODE=a"), OutcomeKind::kLaunchFailed);
}

TEST(ForeignTables, TruthsComeBackAsTruthsAndATimeThatMarksAFailureIsNone) {
  const char* const rows = R"json("32,True": {"B": 32, "S": true, "time": 1.5, "times": [1.5]},
      "32,False": {"B": 32, "S": false, "time": 1e20, "times": [1e20]},
      "64,True": {"B": 64, "S": true, "time": 1.25, "times": [1.25]}, "1,True": {"B": 1, "S": true, "time": 2})json";
  for (const char* const stated : {R"json("tune_params": {"B": [1, 32, 64], "S": [true, false]},)json", ""}) {
    const std::string text =
        std::string(R"json({"tune_params_keys": ["B", "S"],)json") + stated + R"json("cache": {)json" + rows + "}}";
    const ForeignTable table = parse_foreign_table(text, "cache").value();
    EXPECT_FALSE(table.parameters[0].truths);
    EXPECT_TRUE(table.parameters[1].truths);
    EXPECT_EQ(foreign_table_of(stored_text(table)).value(), table);
    for (const ForeignFormat format : {ForeignFormat::kT4, ForeignFormat::kKernelTuner})
      expect_same(written_and_read(table, format), table);
    const auto written = nlohmann::json::parse(write_foreign_table(table, ForeignFormat::kKernelTuner));
    EXPECT_EQ(written.at("cache").at("32,True").at("S"), true);
    EXPECT_EQ(written.at("cache").at("1,True").at("B"), 1);
    EXPECT_EQ(written.at("cache").at("32,False").at("time"), "RuntimeFailedConfig");
    for (const nlohmann::json& value : written.at("tune_params").at("S")) EXPECT_TRUE(value.is_boolean());
  }
}

TEST(ForeignTables, AMarkedFailureOfAT4FileIsOne) {
  const auto of = [](const char* time) {
    return parse_foreign_table(std::string(R"json({"results": [{"configuration": {"B": 1}, "measurements":
        [{"name": "time", "value": 2}]}, {"configuration": {"B": 2}, "measurements": [{"name": "time", "value": )json") +
                                   time + "}]}]}",
                               "t4")
        .value()
        .rows.back();
  };
  EXPECT_EQ(of("1e20").outcome.kind, OutcomeKind::kLaunchFailed);
  EXPECT_EQ(of("1e20").time_s, 0);
  EXPECT_EQ(of("9e19").outcome.kind, OutcomeKind::kOk) << "absurd, but not the mark";
}

TEST(ForeignTables, ACacheThatIsStillOpenIsWhole) {
  EXPECT_EQ(corpus_table("kernel_tuner_open.json").table.variants, corpus_table("kernel_tuner.json").table.variants);
}

TEST(ForeignTables, AT4FileHasItsObjectiveInItsUnit) {
  const RecordedTable table = corpus_table("t4.json");
  EXPECT_EQ(table.title(), "conv");
  EXPECT_DOUBLE_EQ(table.table.best_s().value(), 1.25e-3);
  EXPECT_DOUBLE_EQ(table.table.worst_s().value(), 2.5e-3);
  EXPECT_EQ(outcome_of(table, "BX=16,ON=0"), OutcomeKind::kCompileFailed);
  EXPECT_EQ(outcome_of(table, "BX=32,ON=0"), OutcomeKind::kWrongResult);
}

TEST(ForeignTables, WhatIsNoneSaysWhatIsWrong) {
  for (const auto& [name, message] :
       {std::pair{"not_json", "is no JSON"}, std::pair{"no_table", "is neither"}, std::pair{"deep", "is no JSON"},
        std::pair{"wrong_types", "must be a list"}, std::pair{"no_rows", "no configuration with a time"},
        std::pair{"row_nested", "no value of 'A'"}, std::pair{"t4_null", "no 'configuration'"},
        std::pair{"t4_word", "'fine' is no invalidity"}}) {
    const auto table = parse_foreign_table(read_file(kCorpus + std::string(name) + ".json").value(), name);
    ASSERT_FALSE(table) << name;
    EXPECT_EQ(table.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(table.error().message, HasSubstr(message)) << name;
  }
}

TEST(ForeignTables, AreTheSameAfterTheyWereWrittenKeptAndReadAgain) {
  for (const char* name : {"kernel_tuner.json", "t4.json"}) {
    ForeignTable table = corpus_file(name);
    EXPECT_EQ(foreign_table_of(stored_text(table)).value(), table) << name;
    table.constraints = {{"BX % 16 == 0", ""}};
    for (ForeignTable::Row& row : table.rows) {
      row.compile_s = 0.5;
      row.cut = row.time_s > 2e-3;
      if (row.time_s > 0) row.times_s = {1.5e-3, 1.25e-3};
    }
    for (const ForeignFormat format : {ForeignFormat::kT4, ForeignFormat::kKernelTuner})
      expect_same(written_and_read(table, format), table);
  }
}

TEST(ForeignTables, OfARecordingHaveItsSpaceFailuresAndTimes) {
  const db::Database database =
      db::Database::open(PGTUNE_SOURCE_DIR "/recordings/h200-f32.db.zst", db::OpenMode::kReadOnly);
  const KnownTemplates templates{Catalogue()};
  std::size_t failed = 0;
  auto some = recorded_tables(database, templates);
  some.resize(8);
  for (const RecordedTable& recorded : some) {
    std::size_t rows = 0;
    for (const ForeignTable& table : foreign_tables_of(recorded, templates)) {
      rows += table.rows.size();
      EXPECT_FALSE(table.constraints.empty());
      EXPECT_GE(table.parameters.front().values.size(), table.values_seen(0).size());
      for (const ForeignTable::Row& row : table.rows) {
        failed += row.outcome.kind != OutcomeKind::kOk;
        EXPECT_EQ(row.outcome.kind == OutcomeKind::kOk, row.outcome.reason.empty());
        EXPECT_EQ(row.outcome.kind == OutcomeKind::kOk, !row.times_s.empty());
      }
      expect_same(written_and_read(table, ForeignFormat::kT4), table);
      ForeignTable without_reasons = table;  // of its rules: Kernel Tuner has none
      for (ForeignTable::Constraint& constraint : without_reasons.constraints) constraint.reason.clear();
      expect_same(written_and_read(table, ForeignFormat::kKernelTuner), without_reasons);
    }
    EXPECT_LE(rows, recorded.table.variants.size());
    EXPECT_GT(rows, 0U);
  }
  EXPECT_GT(failed, 0U);
}

TEST(ForeignTables, AT1FileStatesTheSpaceAndNothingOfItIsEvaluated) {
  ForeignTable table = corpus_file("kernel_tuner.json");
  const auto space = parse_untrusted_json(R"json({"ConfigurationSpace": {
      "TuningParameters": [{"Name": "BX", "Type": "int", "Values": "[8, 16, 32, 64]"},
                           {"Name": "MODE", "Type": "string", "Values": "['a', 1.5, 'b']"}],
      "Conditions": [{"Expression": "BX > 8 or __import__('os').abort()", "Parameters": ["BX"]}]}})json");
  ASSERT_TRUE(add_t1_space(*space, table));
  EXPECT_EQ(table.parameters[0].values.size(), 4U);
  EXPECT_EQ(table.parameters[1].values.back(), ParameterValue("b"));
  ASSERT_EQ(table.constraints.size(), 1U);
  EXPECT_EQ(table.constraints.front().expression, "BX > 8 or __import__('os').abort()");

  for (const auto& [text, message] :
       {std::pair{R"json({"results": []})json", "is no T1 file"},
        std::pair{R"json({"ConfigurationSpace": {"TuningParameters": [{"Name": "BY", "Values": "[1]"}]}})json",
                  "another space"},
        std::pair{R"json({"ConfigurationSpace": {"TuningParameters": [{"Name": "BX", "Values": "range(4)"}]}})json",
                  "no list of constants"}}) {
    const auto wrong = add_t1_space(*parse_untrusted_json(text), table);
    ASSERT_FALSE(wrong) << text;
    EXPECT_THAT(wrong.error().message, HasSubstr(message));
  }
}

TEST(ForeignTables, StoredTextThatIsDamagedIsRefused) {
  const std::string good = stored_text(corpus_file("kernel_tuner.json"));
  ASSERT_TRUE(foreign_table_of(good));
  for (const char* text : {"", "{}", "[1]", R"({"kernel": 1})"}) EXPECT_FALSE(foreign_table_of(text)) << text;
  std::string place = good;
  place.replace(place.find("[[0,"), 4, "[[9,");
  EXPECT_FALSE(foreign_table_of(place)) << "a value's place that no parameter has";
}

}  // namespace
}  // namespace pgtune::tool
