// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "db/database.hpp"
#include "db/migrate.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

namespace fs = std::filesystem;

TEST(Migrations, AreNumberedWithoutGapsUpToTheSchemaVersion) {
  std::multiset<int> numbers;
  for (const auto& entry : fs::directory_iterator(PGTUNE_SOURCE_DIR "/db/migrations")) {
    numbers.insert(std::stoi(entry.path().filename().string().substr(0, 4)));
  }
  int expected = 0;
  for (const int number : numbers) {
    EXPECT_EQ(number, ++expected);
  }
  EXPECT_EQ(expected, kSchemaVersion);
}

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
  // The first migration can make devices again, then finds that environments is there already.
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

/// What a row of schema 5 becomes whose device is described by `info_json`.
std::string migrated_hardware(const std::string& info_json) {
  auto database = Database::open_memory(5);
  Statement(database,
            "INSERT INTO devices (uuid, name, architecture, info_json) VALUES ('GPU-7', 'H200', 'sm_90a', ?1)")
      .bind(info_json)
      .run();
  migrate(database);
  return query_text(database, "SELECT hardware FROM devices");
}

TEST(MigrationToClasses, TakesThemFromWhatWasKnownOfTheDevice) {
  DeviceInfo device = testing::TestSession().device;
  device.compute_major = 9;
  EXPECT_EQ(migrated_hardware(nlohmann::json(device).dump()), "H200, sm_90, 132 SMs, 140 GiB, 700 W");
}

TEST(MigrationToClasses, LeavesABoardToItselfOfWhichTooLittleWasKnown) {
  DeviceInfo device = testing::TestSession().device;
  device.compute_major = 9;
  device.power_limit_w = 0;
  EXPECT_EQ(migrated_hardware(nlohmann::json(device).dump()),
            "H200, sm_90, 132 SMs, 140 GiB, power limit unknown, only GPU-7");
  for (const char* unreadable : {"", "[]", "{}", R"({"uuid": 7})"}) {
    EXPECT_EQ(migrated_hardware(unreadable), "H200, sm_00, 0 SMs, memory unknown, power limit unknown, only GPU-7");
  }
}

}  // namespace
}  // namespace pgtune::db
