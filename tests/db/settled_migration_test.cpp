// SPDX-License-Identifier: MIT
// Migration 5 marks what short samples said at the power cap, and migration 7 takes the mark from the burst regime's.
#include <gtest/gtest.h>

#include <string>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

namespace fs = std::filesystem;
using testing::ScratchFolder;

/// A file of schema 4 with two results, of sessions 6 and 8, whose finals say nothing of the cap.
class SettledMigration : public ::testing::Test {
 protected:
  SettledMigration() {
    fs::copy_file(PGTUNE_SOURCE_DIR "/tests/db/data/schema4.db", path_);
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  }

  /// By hand, as opening it for writing would migrate it. `samples`: which of round_samples.
  void set_power_cap(const std::string& value, const std::string& samples) {
    auto writer = Database::open_memory();
    execute(writer, "ATTACH '" + path_.string() + "' AS old");
    execute(writer, "UPDATE old.round_samples SET power_cap_s = " + value +
                        " WHERE stage IN (SELECT id FROM old.stages WHERE name = 'final')"
                        " AND contender IN (SELECT id FROM old.contenders WHERE session = 8) AND " +
                        samples);
  }
  /// Of both results, "8 unsettled", those without a mark without a word.
  [[nodiscard]] std::string marks() const {
    return query_text(
        Database::open(path_, OpenMode::kReadOnly),
        "SELECT group_concat(session || coalesce(' ' || json_extract(answer_json, '$.sampling'), ''), ', ')"
        " FROM (SELECT * FROM best ORDER BY session)");
  }

  ScratchFolder folder_;
  fs::path path_ = folder_ / "old.db";
};

TEST_F(SettledMigration, MarksAFinalThatTheCapHeldDownForMoreThanATwentieth) {
  set_power_cap("0.06 * time_s", "true");
  EXPECT_EQ(marks(), "6, 8 unsettled");
}

TEST_F(SettledMigration, LeavesOneBelowAsItIs) {
  set_power_cap("0.04 * time_s", "true");
  EXPECT_EQ(marks(), "6, 8");
}

TEST_F(SettledMigration, LeavesOneWithoutACounterAsItIs) {
  EXPECT_EQ(marks(), "6, 8");
  set_power_cap("NULL", "true");
  EXPECT_EQ(marks(), "6, 8");
}

TEST_F(SettledMigration, JudgesByTheSumAsTheCounterStepsSeldom) {
  // A step of the counter, longer than the sample of 20 ms that it falls into, in two of 120 samples.
  set_power_cap("0", "true");
  set_power_cap("0.1", "round IN (1, 7) AND position = 0");
  EXPECT_EQ(marks(), "6, 8 unsettled") << "8 % of the time";
  set_power_cap("0", "round = 7");
  EXPECT_EQ(marks(), "6, 8") << "4 %";
}

TEST_F(SettledMigration, LeavesTheBurstRegimeUnmarked) {
  set_power_cap("0.06 * time_s", "true");
  auto writer = Database::open_memory();
  execute(writer, "ATTACH '" + path_.string() + "' AS old");
  execute(writer, "UPDATE old.conditions SET conditions_json = json_set(conditions_json, '$.regime', 'burst')");
  EXPECT_EQ(marks(), "6, 8 short");
}

TEST_F(SettledMigration, LooksAtTheFinalAlone) {
  set_power_cap("0", "true");
  auto writer = Database::open_memory();
  execute(writer, "ATTACH '" + path_.string() + "' AS old");
  execute(writer,
          "UPDATE old.round_samples SET power_cap_s = time_s"
          " WHERE stage IN (SELECT id FROM old.stages WHERE name <> 'final')");
  EXPECT_EQ(marks(), "6, 8");
}

}  // namespace
}  // namespace pgtune::db
