// SPDX-License-Identifier: MIT
// Files of every earlier schema, kept in tests/db/data: opened, migrated and merged they hold what they held.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/session_uid.hpp"
#include "db/sqlite/statement.hpp"
#include "db/upkeep/merge.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

namespace fs = std::filesystem;
using testing::contents;
using testing::dumped;
using ::testing::IsEmpty;
using testing::ScratchFolder;

class EverySchema : public ::testing::TestWithParam<int> {
 protected:
  EverySchema() {
    fs::copy_file(PGTUNE_SOURCE_DIR "/tests/db/data/schema" + std::to_string(GetParam()) + ".db", path_);
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  }
  ScratchFolder folder_;
  fs::path path_ = folder_ / "old.db";
};

TEST_P(EverySchema, IsOfTheVersionItIsNamedFor) {
  EXPECT_EQ(Database::open(path_, OpenMode::kReadOnlyAsIs).schema_version(), GetParam());
}

TEST_P(EverySchema, ReadingMigratesACopyAndLeavesTheFile) {
  const std::string before = contents(path_);
  const auto database = Database::open(path_, OpenMode::kReadOnly);
  EXPECT_EQ(database.schema_version(), kSchemaVersion);
  EXPECT_EQ(database.old_file().value().schema_version, GetParam());
  EXPECT_THAT(database.check(), IsEmpty());
  EXPECT_EQ(contents(path_), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_P(EverySchema, ReadingWritingAndMergingSeeTheSame) {
  const std::string read = dumped(Database::open(path_, OpenMode::kReadOnly));
  EXPECT_EQ(dumped(Database::open(path_, OpenMode::kReadOnly)), read) << "uids must come from the content alone";
  static_cast<void>(merge({path_}, folder_ / "merged.db"));
  EXPECT_EQ(dumped(Database::open(folder_ / "merged.db", OpenMode::kReadOnly)), read);
  EXPECT_EQ(dumped(Database::open(path_, OpenMode::kReadWriteCreate)), read);
  EXPECT_EQ(Database::open(path_, OpenMode::kReadOnlyAsIs).schema_version(), kSchemaVersion);
}

/// All of them were made on an H200 with 700 W, and their results count for every such board under driver 580.
TEST_P(EverySchema, ItsResultsCountForTheClassOfTheirBoard) {
  const auto database = Database::open(path_, OpenMode::kReadOnly);
  const std::string h200 = "NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W, driver 580";
  const auto all = list_best(database, {});
  ASSERT_FALSE(all.empty());
  for (const BestRow& best : all) {
    EXPECT_EQ(best.device_class, h200);
    EXPECT_THAT(best.device_uuid, ::testing::StartsWith("GPU-7"));
    ResultKey key = key_of(best);
    key.only_board.reset();
    EXPECT_EQ(find_best(database, key).value().session, best.session);
    key.device_class = "NVIDIA H200, sm_90, 132 SMs, 140 GiB, 500 W, driver 580";
    EXPECT_FALSE(find_best(database, key).has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(Files, EverySchema, ::testing::Range(1, kSchemaVersion));

/// The parameters above cover every version before the present one, so a new migration asks for a file of the last.
TEST(EverySchemaFile, IsKept) {
  for (int version = 1; version < kSchemaVersion; ++version) {
    EXPECT_TRUE(fs::exists(PGTUNE_SOURCE_DIR "/tests/db/data/schema" + std::to_string(version) + ".db")) << version;
  }
}

TEST(Schema2File, KeepsEveryRow) {
  const auto database = Database::open(PGTUNE_SOURCE_DIR "/tests/db/data/schema2.db", OpenMode::kReadOnly);
  // Numbers taken from the file with schema 2.
  EXPECT_EQ(testing::filled_tables(database), (std::map<std::string, std::int64_t>{{"best", 2},
                                                                                   {"samples", 61},
                                                                                   {"builds", 33},
                                                                                   {"ceilings", 1},
                                                                                   {"conditions", 1},
                                                                                   {"contenders", 13},
                                                                                   {"devices", 1},
                                                                                   {"energy_windows", 8},
                                                                                   {"environments", 1},
                                                                                   {"outcomes", 7},
                                                                                   {"problems", 2},
                                                                                   {"baseline_reports", 2},
                                                                                   {"round_samples", 192},
                                                                                   {"sessions", 3},
                                                                                   {"stages", 4},
                                                                                   {"templates", 1},
                                                                                   {"trials", 35},
                                                                                   {"variants", 33}}));
  double time_s = 0, energy_j = 0;
  std::int64_t launches = 0;
  for (const RowId session : {6, 8}) {
    for (const auto& contender : session_rounds(database, session)) {
      for (const auto& sample : contender.samples) {
        time_s += sample.time_s;
        launches += sample.launches;
      }
    }
    for (const auto& window : energy_windows(database, session)) {
      energy_j += window.window.energy_j;
    }
  }
  EXPECT_NEAR(time_s, 3.827214572906495, 1e-12);
  EXPECT_EQ(launches, 70572);
  EXPECT_NEAR(energy_j, 22546.202, 1e-6);
  ASSERT_EQ(list_best(database, {}).size(), 2U);
  EXPECT_EQ(list_best(database, {})[0].time_s, 6.570817307380346e-05);
}

TEST(Schema2File, ASessionBegunByAClockThatWasSetBackIsStillTheNewest) {
  const auto database = Database::open(PGTUNE_SOURCE_DIR "/tests/db/data/schema2.db", OpenMode::kReadOnly);
  const auto sessions = list_sessions(database);
  ASSERT_EQ(sessions.size(), 3U);
  EXPECT_EQ(sessions[0].id, 9);
  EXPECT_LT(sessions[0].started_at, sessions[1].started_at);
  EXPECT_EQ(uid_time_ms(sessions[0].uid), uid_time_ms(sessions[1].uid) + 1);
  EXPECT_GT(sessions[1].uid, sessions[2].uid);
  EXPECT_THAT(sessions[0].uid,
              ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"));
}

}  // namespace
}  // namespace pgtune::db
