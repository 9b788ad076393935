// SPDX-License-Identifier: MIT
// T4 files and caches of Kernel Tuner as tables for simulations.
#include "tool/pgtune/simulate/foreign_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCorpus = PGTUNE_SOURCE_DIR "/tests/fuzz/corpus/foreign_table/";

RecordedTable corpus_table(const std::string& name) {
  auto table = foreign_table(read_file(kCorpus + name).value(), name);
  EXPECT_TRUE(table) << table.error().text();
  return std::move(table).value();
}

OutcomeKind outcome_of(const RecordedTable& table, const std::string& key) {
  for (std::size_t i = 0; i < table.table.variants.size(); ++i) {
    if (table.table.variants[i].key() == key) return table.table.observations[i].outcome;
  }
  ADD_FAILURE() << key << " is not there";
  return OutcomeKind::kOk;
}

TEST(ForeignTables, AKernelTunerCacheHasItsTimesAndFailures) {
  const RecordedTable table = corpus_table("kernel_tuner.json");
  EXPECT_EQ(table.title(), "gemm");
  EXPECT_EQ(table.device.name, "NVIDIA A100");
  EXPECT_EQ(table.table.variants.size(), 6U);
  EXPECT_DOUBLE_EQ(table.table.best_s().value(), 1.25e-3);
  EXPECT_DOUBLE_EQ(table.table.worst_s().value(), 2.5e-3);
  EXPECT_EQ(outcome_of(table, "BX=16,MODE=1.5"), OutcomeKind::kInvalid);
  EXPECT_EQ(outcome_of(table, "BX=32,MODE=1.5"), OutcomeKind::kCompileFailed);
  EXPECT_EQ(outcome_of(table, "BX=64,MODE=a"), OutcomeKind::kLaunchFailed);
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
    const auto table = foreign_table(read_file(kCorpus + std::string(name) + ".json").value(), name);
    ASSERT_FALSE(table) << name;
    EXPECT_EQ(table.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(table.error().message, HasSubstr(message)) << name;
  }
}

}  // namespace
}  // namespace pgtune::tool
