// SPDX-License-Identifier: MIT
// Files from somebody else: what their schema defines does not run, and values that no pgtune writes are errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "db/queries/stored_records.hpp"
#include "db/sqlite/statement.hpp"
#include "db/upkeep/content_check.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using ::testing::AllOf;
using testing::contents;
using testing::error_of;
using testing::good_trial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScratchFolder;
using testing::TestSession;

class Hostile : public ::testing::Test {
 protected:
  Hostile() {
    auto database = Database::open(path_, OpenMode::kReadWriteCreate);
    const auto session = TestSession().begin(database);
    save_trial(database, session, good_trial("A=1"));
    BestRow best;
    best.variant_key = "A=1";
    finish_session(database, session, best);
  }
  /// Changes the file as another program can, which keeps none of pgtune's rules.
  void spoil(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_free(message);
    sqlite3_close(handle);
  }
  [[nodiscard]] std::string open_error(OpenMode mode) const {
    return error_of([&] { static_cast<void>(Database::open(path_, mode)); }).what();
  }
  void expect_refused(const std::string& what) const {
    for (const auto mode : {OpenMode::kReadOnly, OpenMode::kReadWriteCreate}) {
      EXPECT_THAT(open_error(mode), AllOf(HasSubstr("changed by something else than pgtune"), HasSubstr(what),
                                          HasSubstr("restore the file from a copy")));
    }
    EXPECT_THAT(Database::open(path_, OpenMode::kReadOnlyAsIs).check(), ::testing::Contains(HasSubstr(what)));
  }
  [[nodiscard]] Database reader() const { return Database::open(path_, OpenMode::kReadOnly); }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "theirs.db";
};

TEST_F(Hostile, TriggersAreRefused) {
  spoil("CREATE TRIGGER steal AFTER INSERT ON trials BEGIN DELETE FROM best; END");
  expect_refused("trigger steal is not pgtune's");
}

TEST_F(Hostile, ViewsUnderOurNamesAreRefused) {
  spoil(
      "DROP VIEW session_keys; CREATE VIEW session_keys AS"
      " WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS session FROM n");
  expect_refused("view session_keys is not as pgtune makes it");
}

TEST_F(Hostile, ViewsInsteadOfTablesAreRefused) {
  spoil("ALTER TABLE best RENAME TO hidden; CREATE VIEW best AS SELECT * FROM hidden");
  expect_refused("table best is not as pgtune makes it");
}

TEST_F(Hostile, IndexesOnOurTablesAreRefused) {
  spoil("CREATE INDEX slow ON trials (abs(recorded_at))");
  expect_refused("index slow is not pgtune's");
}

TEST_F(Hostile, VirtualTablesAreRefused) {
  spoil("CREATE VIRTUAL TABLE words USING fts5(text)");
  expect_refused("table words is not pgtune's");
}

TEST_F(Hostile, MissingTablesAreRefused) {
  spoil("DROP TABLE energy_windows");
  expect_refused("table energy_windows is missing");
}

TEST_F(Hostile, NotesOfTheOwnerAreTheirOwnBusiness) {
  spoil(R"(CREATE TABLE "my ""notes" (text); INSERT INTO "my ""notes" VALUES ('hello');
           CREATE INDEX of_notes ON "my ""notes" (text); CREATE VIEW mine AS SELECT * FROM "my ""notes")");
  const auto database = reader();
  EXPECT_EQ(totals(database).rows.at("my \"notes"), 1);
  EXPECT_THAT(database.check(), IsEmpty());
  EXPECT_EQ(list_sessions(Database::open(path_, OpenMode::kReadWriteCreate)).size(), 1U);
}

TEST_F(Hostile, CodeInTheirSchemaDoesNotRun) {
  const auto database = reader();
  int on = -1;
  for (const int option : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER}) {
    ASSERT_EQ(sqlite3_db_config(database.handle(), option, -1, &on), SQLITE_OK);
    EXPECT_EQ(on, 0) << option;
  }
  ASSERT_EQ(sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, -1, &on), SQLITE_OK);
  EXPECT_EQ(on, 1);
  EXPECT_EQ(query_integer(database, "PRAGMA cell_size_check"), 1);
}

TEST_F(Hostile, GiganticTextIsAnError) {
  spoil("UPDATE best SET answer_json = hex(zeroblob(20000000))");
  const auto error = error_of([&] { static_cast<void>(find_best(reader(), TestSession().key())); });
  EXPECT_THAT(error.what(), AllOf(HasSubstr("larger than any pgtune writes"), HasSubstr("theirs.db")));
}

TEST_F(Hostile, ImpossibleNumbersAreToldWithTheirRowAndColumn) {
  EXPECT_THAT(damage(reader(), {}), IsEmpty());
  spoil("UPDATE samples SET time_s = -1 WHERE ordinal = 0; UPDATE best SET answer_json = 'x'");
  const ColumnChecks checks{{"best.answer_json", [](const Value&) { return std::optional<std::string>("no answer"); }}};
  EXPECT_THAT(damage(reader(), checks),
              ::testing::UnorderedElementsAre("samples (trial 1, ordinal 0): time_s: impossible number -1.000000",
                                              "best (session 1): answer_json: no answer"));
}

TEST_F(Hostile, NumbersThatDoNotFitAreAnError) {
  spoil("UPDATE builds SET registers = 1099511627776");
  const auto error = error_of([&] { static_cast<void>(find_trials(reader(), TestSession().key())); });
  EXPECT_THAT(error.what(), AllOf(HasSubstr("is damaged"), HasSubstr("1099511627776 as a registers")));
}

TEST_F(Hostile, RecordsThatNoMeasurementGivesAreAnError) {
  const auto trials_error = [&](const std::string& sql) {
    spoil(sql);
    return std::string(error_of([&] { static_cast<void>(find_trials(reader(), TestSession().key())); }).what());
  };
  EXPECT_THAT(trials_error("UPDATE samples SET launches = 0"),
              AllOf(HasSubstr("a sample of 0 launches"), HasSubstr("Restore the file")));
  EXPECT_THAT(trials_error("UPDATE samples SET launches = 1, round = -3"), HasSubstr("impossible number -3 as round"));
  EXPECT_THAT(trials_error("UPDATE samples SET round = 0; UPDATE stages SET name = 'warmup'"),
              HasSubstr("unknown stage 'warmup'"));
  EXPECT_THAT(trials_error("UPDATE builds SET local_bytes = -1"), HasSubstr("impossible number -1 as local_bytes"));
  EXPECT_THAT(trials_error("UPDATE outcomes SET kind = 'excellent'"), HasSubstr("unknown outcome 'excellent'"));
}

TEST_F(Hostile, TextThatIsNotTheRecordItShouldBeIsAnError) {
  for (const char* text : {"", "{", "[]", "{\"m\":1}", "{\"m\":\"x\"}", "[[[["}) {
    spoil(std::string("UPDATE problems SET problem_json = '") + text + "'");
    const auto error = error_of([&] { static_cast<void>(find_problem(reader(), TestSession().problem.key())); });
    EXPECT_THAT(error.what(), AllOf(HasSubstr("a problem that cannot be read"), HasSubstr("Restore"))) << text;
  }
  spoil("UPDATE devices SET info_json = replace(hex(zeroblob(500000)), '0', '[')");
  EXPECT_THAT(error_of([&] { static_cast<void>(find_device(reader(), "GPU-1a2b")); }).what(),
              HasSubstr("a device that cannot be read"));
  EXPECT_THAT(error_of([&] { static_cast<void>(conditions_of("sustained and more")); }).what(),
              AllOf(HasSubstr("text of conditions 'sustained and more'"), HasSubstr("Restore")));
}

TEST_F(Hostile, NegativeIdsAndMissingRowsAreJustNotFound) {
  spoil("UPDATE trials SET id = -5; UPDATE samples SET trial = -5");
  EXPECT_EQ(find_trials(reader(), TestSession().key()).at("A=1").report.samples.size(), 3U);
  spoil("DELETE FROM outcomes; DELETE FROM problems");
  EXPECT_THAT(find_trials(reader(), TestSession().key()), IsEmpty());
  EXPECT_FALSE(find_best(reader(), TestSession().key()).has_value());
  EXPECT_FALSE(reader().check().empty());
}

TEST_F(Hostile, DamageAnywhereInTheFileEndsInAnErrorOrAnAnswer) {
  spoil("PRAGMA journal_mode = delete");
  const std::string sound = contents(path_);
  int errors = 0, answers = 0;
  for (std::size_t place = 100; place < sound.size(); place += 1009) {
    std::string bytes = sound;
    for (std::size_t i = place; i < std::min(place + 16, bytes.size()); ++i) {
      bytes[i] = static_cast<char>(0xff - static_cast<unsigned char>(bytes[i]));
    }
    try {
      const auto database = Database::open_image(std::as_bytes(std::span(bytes)), "theirs.db");
      static_cast<void>(list_best(database, {}));
      static_cast<void>(find_trials(database, TestSession().key()));
      static_cast<void>(session_rounds(database, 1));
      static_cast<void>(totals(database));
      static_cast<void>(database.check());
      ++answers;
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 0);
  EXPECT_GT(answers, 0);
}

TEST_F(Hostile, WhatIsFromAnUnknownSourceWasNotMeasuredHere) {
  spoil("PRAGMA ignore_check_constraints = on; UPDATE sessions SET source = 'oracle'");
  for (const SessionRow& row : list_sessions(reader())) EXPECT_TRUE(row.recorded);
}

}  // namespace
}  // namespace pgtune::db
