// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

TEST(Migrations, LeadToTheSchemaVersion) { EXPECT_EQ(schema_steps().size(), std::size_t{kSchemaVersion}); }

TEST(Migrations, AllTablesAreStrict) {
  const auto database = Database::open_memory();
  EXPECT_GT(query_integer(database, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict"), 10);
  EXPECT_EQ(query_text(database,
                       "SELECT group_concat(name) FROM pragma_table_list WHERE schema = 'main'"
                       " AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'"),
            "");
}

TEST(Migrations, ThatFailLeaveNothingBehind) {
  const testing::ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  const auto holder = Database::open(path, OpenMode::kReadWriteCreate);
  // The schema's script can make devices again, then finds that environments is there already.
  execute(holder, "PRAGMA user_version = 0; DROP VIEW session_keys; DROP TABLE devices");
  EXPECT_THAT(testing::error_of([&] { static_cast<void>(Database::open(path, OpenMode::kReadWriteCreate)); }).what(),
              ::testing::HasSubstr("table environments already exists"));
  EXPECT_EQ(query_integer(holder, "SELECT count(*) FROM sqlite_schema WHERE name = 'devices'"), 0);
  EXPECT_EQ(holder.schema_version(), 0);
}

TEST(Migrations, ForeignKeysAreEnforced) {
  const auto database = Database::open_memory();
  EXPECT_THAT(testing::error_of([&] {
                execute(database, "INSERT INTO variants (template, key, parameters_json) VALUES (7, 'A=1', '{}')");
              }).what(),
              ::testing::HasSubstr("FOREIGN KEY"));
}

/// The schema of this program and one step beyond it.
std::vector<embedded::File> one_step_more(std::string_view step) {
  std::vector<embedded::File> steps(schema_steps().begin(), schema_steps().end());
  steps.push_back({"step.sql", step});
  return steps;
}

TEST(Migrations, AStepChangesADatabaseAndKeepsItsRows) {
  auto database = Database::open_memory();
  const RowId session = testing::TestSession().begin(database);
  migrate(database, one_step_more("ALTER TABLE sessions ADD COLUMN remark TEXT NOT NULL DEFAULT 'none'"));
  EXPECT_EQ(database.schema_version(), kSchemaVersion + 1);
  EXPECT_EQ(query_integer(database, "SELECT id FROM sessions WHERE remark = 'none'"), session);
}

TEST(Migrations, StepsThatFailLeaveTheDatabaseAsItWas) {
  const auto database = Database::open_memory();
  EXPECT_THAT(testing::error_of([&] {
                migrate(database, one_step_more("DROP TABLE foreign_tables; DROP TABLE nothing"));
              }).what(),
              ::testing::HasSubstr("nothing"));
  EXPECT_EQ(database.schema_version(), kSchemaVersion);
  EXPECT_THAT(database.check(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace pgtune::db
