// SPDX-License-Identifier: MIT
// Hardware counters of kernels: saved, found by problem, conditions and class, merged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "db/queries/queries.hpp"
#include "db/sqlite/statement.hpp"
#include "db/upkeep/merge.hpp"
#include "tests/db/fixtures.hpp"
#include "tuner/model/device_class.hpp"

namespace pgtune::db {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestSession;

CountersRow of_variant(const std::string& key, double dram_read_bytes) {
  CountersRow row{.contender = VariantRow{key, "{}", {"tiny", "0123"}}};
  row.counters.profiler = "ncu 2025.3.1.0";
  row.counters.dram_read_bytes = dram_read_bytes;
  return row;
}

CountersRow of_algorithm(const std::string& title) { return {.contender = title}; }

class Counters : public ::testing::Test {
 protected:
  void save(const CountersRow& row) {
    save_counters(database_, session_.device, session_.program, session_.problem, conditions_, row);
  }
  [[nodiscard]] std::vector<CountersRow> find() const {
    return find_counters(database_, session_.device, session_.problem.key(), conditions_.key());
  }

  Database database_ = Database::open_memory();
  TestSession session_;
  Conditions conditions_;
};

TEST_F(Counters, TheNewestOfEachContenderCount) {
  EXPECT_THAT(find(), IsEmpty());
  save(of_variant("A=1", 1));
  save(of_variant("A=2", 2));
  save(of_algorithm("library: algorithm 3"));
  save(of_variant("A=1", 4));
  const auto rows = find();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(std::get<VariantRow>(rows[0].contender).key, "A=1");
  EXPECT_EQ(rows[0].counters.dram_read_bytes, 4);
  EXPECT_EQ(rows[0].counters.profiler, "ncu 2025.3.1.0");
  EXPECT_EQ(rows[0].device_uuid, session_.device.uuid);
  EXPECT_EQ(rows[0].measured_at.size(), 20U);
  EXPECT_EQ(std::get<std::string>(rows[1].contender), "library: algorithm 3");
  EXPECT_EQ(std::get<VariantRow>(rows[2].contender).origin, (TemplateRow{"tiny", "0123"}));
}

TEST_F(Counters, CountForTheirProblemConditionsAndClass) {
  save(of_variant("A=1", 1));
  EXPECT_THAT(find_counters(database_, session_.device, "another", conditions_.key()), IsEmpty());
  Conditions warm;
  warm.l2 = L2State::kWarm;
  EXPECT_THAT(find_counters(database_, session_.device, session_.problem.key(), warm.key()), IsEmpty());
  DeviceInfo other = session_.device;
  other.power_limit_w = 500;
  EXPECT_THAT(find_counters(database_, other, session_.problem.key(), conditions_.key()), IsEmpty());
}

TEST_F(Counters, ARowIsAVariantsOrAnAlgorithms) {
  save(of_algorithm("library: algorithm 3"));
  EXPECT_THAT(error_of([&] { execute(database_, "UPDATE kernel_counters SET algorithm = NULL"); }).what(),
              HasSubstr("CHECK"));
}

TEST_F(Counters, WhatNoProfilerGivesIsAnError) {
  save(of_variant("A=1", 1));
  execute(database_, "UPDATE kernel_counters SET counters_json = replace(counters_json, ':1.0', ':-1.0')");
  EXPECT_THAT(error_of([&] { static_cast<void>(find()); }).what(), HasSubstr("dram_read_bytes"));
  execute(database_, "UPDATE kernel_counters SET counters_json = 'x'");
  EXPECT_THAT(error_of([&] { static_cast<void>(find()); }).what(), HasSubstr("counters of a kernel"));
}

TEST_F(Counters, SurviveAMergeOnce) {
  const testing::ScratchFolder folder;
  {
    Database first = Database::open(folder / "a.db", OpenMode::kReadWriteCreate);
    save_counters(first, session_.device, session_.program, session_.problem, conditions_, of_variant("A=1", 1));
    save_counters(first, session_.device, session_.program, session_.problem, conditions_, of_algorithm("library: 3"));
  }
  std::filesystem::copy_file(folder / "a.db", folder / "b.db");
  static_cast<void>(merge({folder / "a.db", folder / "b.db"}, folder / "c.db", {}));
  const Database merged = Database::open(folder / "c.db", OpenMode::kReadOnly);
  EXPECT_EQ(query_integer(merged, "SELECT count(*) FROM kernel_counters"), 2);
  EXPECT_EQ(find_counters(merged, session_.device, session_.problem.key(), conditions_.key()).size(), 2U);
}

}  // namespace
}  // namespace pgtune::db
