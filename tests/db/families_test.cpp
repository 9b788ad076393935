// SPDX-License-Identifier: MIT
// Families: kernels for a range of M.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/queries/queries.hpp"
#include "db/sqlite/statement.hpp"
#include "db/upkeep/merge.hpp"
#include "db/upkeep/prune.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TestSession;

Family family_of(std::int64_t first_m, std::int64_t last_m) {
  Family family;
  family.problem = testing::shaped(last_m, 512, 1024);
  family.first_m = first_m;
  family.kernels = {{{"sgemm_simt", {{"BM", std::int64_t{64}}, {"COPY", "tma"}, {"A", std::int64_t{2}}}}, "c0ffee"},
                    {{"gemm_skinny", {{"ROWS", std::int64_t{1}}}}, "beef"}};
  family.intervals = {{.last_m = first_m, .kernel = 1, .spare = {}, .time_s = 2e-6, .basis = FamilyBasis::kMeasured},
                      {.last_m = last_m, .kernel = 0, .spare = 1, .time_s = 4e-6, .basis = FamilyBasis::kPredicted}};
  family.probes = {{.m = first_m + 1,
                    .family_s = 2e-6,
                    .best_s = 1e-6,
                    .baseline_first_s = 4e-6,
                    .baseline_best_s = 3e-6,
                    .best = {{"gemm_skinny", {{"ROWS", std::int64_t{4}}}}, "beef"}}};
  return family;
}

class Families : public ::testing::Test {
 protected:
  static RowId begin(Database& database, const Family& family, TestSession sample = {}) {
    sample.problem = family.problem;
    sample.template_row = family_template(family, "5e7");
    sample.session.kind = "family";
    sample.session.conditions_key = family.conditions.key();
    return sample.begin(database);
  }
  RowId save(const Family& family, const TestSession& sample = {}) {
    const RowId session = begin(database_, family, sample);
    finish_family(database_, session, family);
    return session;
  }
  Database database_ = Database::open_memory();
};

TEST_F(Families, ComeBackAsTheyWereSaved) {
  Family family = family_of(1, 256);
  family.sum_order = "chain";
  family.compared_m = 200;
  const RowId session = save(family);
  const auto rows = list_families(database_, {});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].family, family);
  EXPECT_EQ(rows[0].session, session);
  EXPECT_EQ(rows[0].device_name, "H200");
  EXPECT_EQ(rows[0].template_hash, "5e7");
  EXPECT_EQ(rows[0].device_class, device_class(TestSession().device).text());
  EXPECT_FALSE(rows[0].finished_at.empty());
  Statement joined(database_, "SELECT count(*) FROM family_intervals JOIN family_kernels ON ordinal = kernel");
  ASSERT_TRUE(joined.step());
  std::int64_t count = 0;
  joined >> count;
  EXPECT_EQ(count, 2) << "intervals name kernels by ordinal, as the schema says";
}

TEST_F(Families, AnUnfinishedOneIsNone) {
  static_cast<void>(begin(database_, family_of(1, 256)));
  EXPECT_THAT(list_families(database_, {}), IsEmpty());
}

TEST_F(Families, TheNewestThatCoversAProblemIsFound) {
  save(family_of(1, 256));
  const RowId later = save(family_of(128, 512));
  const auto found = [&](std::int64_t m) {
    const auto rows = list_families(database_, {.problem = family_of(1, m).problem});
    return rows.empty() ? 0 : rows.front().session;
  };
  EXPECT_EQ(found(100), 1);
  EXPECT_EQ(found(200), later);
  EXPECT_EQ(found(512), later);
  EXPECT_EQ(found(513), 0);
  EXPECT_THAT(list_families(database_, {.problem = testing::shaped(100, 512, 2048)}), IsEmpty());
}

TEST_F(Families, OneQuestionHasTheNewestAnswer) {
  save(family_of(1, 256));
  Family invariant = family_of(1, 256);
  invariant.sum_order = "chain";
  save(invariant);
  const RowId newest = save(family_of(1, 256));
  EXPECT_THAT(list_families(database_, {}), SizeIs(2));
  EXPECT_EQ(list_families(database_, {.one_order = false}).at(0).session, newest);
  EXPECT_EQ(list_families(database_, {.one_order = true}).at(0).family, invariant);
}

TEST_F(Families, AreFilteredByWhereTheyWereMeasured) {
  TestSession elsewhere;
  elsewhere.device.uuid = "GPU-2";
  elsewhere.device.name = "H100";
  elsewhere.session.recorded = true;
  save(family_of(1, 256), elsewhere);
  EXPECT_THAT(list_families(database_, {.device_class = device_class(elsewhere.device).text()}), SizeIs(1));
  EXPECT_THAT(list_families(database_, {.device_class = device_class(TestSession().device).text()}), IsEmpty());
  EXPECT_THAT(list_families(database_, {.device_uuid = "GPU-1a2b"}), IsEmpty());
  EXPECT_THAT(list_families(database_, {.recorded = false}), IsEmpty());
  EXPECT_THAT(list_families(database_, {.template_hash = "other"}), IsEmpty());
  EXPECT_THAT(list_families(database_, {.conditions_key = "burst"}), IsEmpty());
}

TEST_F(Families, MergingKeepsThem) {
  const testing::ScratchFolder folder;
  for (const auto& [name, last_m] : {std::pair{"a.db", 256}, {"b.db", 512}}) {
    auto database = Database::open(folder / name, OpenMode::kReadWriteCreate);
    finish_family(database, begin(database, family_of(1, last_m)), family_of(1, last_m));
  }
  static_cast<void>(merge({folder / "a.db", folder / "b.db"}, folder / "both.db"));
  const auto both = Database::open(folder / "both.db", OpenMode::kReadOnly);
  const auto rows = list_families(both, {});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].family, family_of(1, 512));
  EXPECT_EQ(rows[1].family, family_of(1, 256));
}

TEST_F(Families, PruningKeepsTheNewestOfEachRange) {
  save(family_of(1, 256));
  save(family_of(16, 256));
  const RowId newest = save(family_of(1, 256));
  PruneRules rules;
  rules.keep_newest = 1;
  EXPECT_THAT(prune(database_, rules), SizeIs(1));
  EXPECT_THAT(database_.check(), IsEmpty());
  const auto rows = list_families(database_, {});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].session, newest);
  EXPECT_EQ(rows[1].family, family_of(16, 256)) << "its variants stay";
}

TEST_F(Families, WhatNoSearchWritesIsRefused) {
  save(family_of(1, 256));
  const auto error_after = [&](const char* sql) {
    execute(database_, sql);
    return std::string(error_of([&] { static_cast<void>(list_families(database_, {})); }).what());
  };
  EXPECT_THAT(error_after("UPDATE family_intervals SET kernel = 7"), HasSubstr("an interval without its kernel"));
  EXPECT_THAT(error_after("UPDATE families SET first_m = 300"), HasSubstr("no range of M"));
  EXPECT_THAT(error_after("UPDATE variants SET key = 'BM=65' WHERE key LIKE 'BM=%'"),
              HasSubstr("an unknown variant 'BM=65'"));
}

}  // namespace
}  // namespace pgtune::db
