// SPDX-License-Identifier: MIT
// Full disks, damage and locks: the message says what happened, and nothing committed is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using ::testing::AllOf;
using testing::error_of;
using testing::good_trial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScratchFolder;
using testing::TestSession;

constexpr int kSqliteBusy = 5, kSqliteFull = 13;

TEST(FullDisk, KeepsWhatWasSavedAndCanGoOn) {
  const ScratchFolder folder;
  const TestSession sample;
  auto database = Database::open(folder / "pgtune.db", OpenMode::kReadWriteCreate);
  const auto session = sample.begin(database);
  const auto pages = query_integer(database, "PRAGMA page_count");
  execute(database, "PRAGMA max_page_count = " + std::to_string(pages + 10));
  std::size_t saved = 0;
  const auto error = error_of([&] {
    for (; saved < 10'000; ++saved) {
      save_trial(database, session, good_trial("A=" + std::to_string(saved)));
    }
  });
  EXPECT_THAT(error.what(), AllOf(HasSubstr("disk is full"), HasSubstr("saved before is kept"), HasSubstr("free some"),
                                  HasSubstr("pgtune.db")));
  EXPECT_EQ(error.extended_code() & 0xff, kSqliteFull);
  EXPECT_GT(saved, 0U);
  EXPECT_EQ(find_trials(database, sample.key()).size(), saved);
  EXPECT_THAT(database.check(), IsEmpty());

  execute(database, "PRAGMA max_page_count = 1000000");
  save_trial(database, session, good_trial("A=after"));
  EXPECT_EQ(find_trials(database, sample.key()).size(), saved + 1);
}

TEST(Locked, SaysThatAnotherProcessHoldsIt) {
  const ScratchFolder folder;
  const auto holder = Database::open(folder / "pgtune.db", OpenMode::kReadWriteCreate);
  auto waiting = Database::open(folder / "pgtune.db", OpenMode::kReadWriteCreate);
  EXPECT_EQ(query_integer(waiting, "PRAGMA busy_timeout"), 60'000);
  execute(waiting, "PRAGMA busy_timeout = 1");
  const Transaction lock(holder, TransactionKind::kWrite);
  const auto error = error_of([&] { static_cast<void>(TestSession().begin(waiting)); });
  EXPECT_THAT(error.what(), AllOf(HasSubstr("locked by another process"), HasSubstr("Wait")));
  EXPECT_EQ(error.extended_code() & 0xff, kSqliteBusy);
}

TEST(ReplacedFile, IsNotWrittenToAnyMore) {
  const ScratchFolder folder;
  const TestSession sample;
  auto database = Database::open(folder / "pgtune.db", OpenMode::kReadWriteCreate);
  const auto session = sample.begin(database);
  const auto refused = [&]() -> std::string {
    return error_of([&] { save_trial(database, session, good_trial("A=1")); }).what();
  };
  std::filesystem::rename(folder / "pgtune.db", folder / "old.db");
  EXPECT_THAT(refused(), HasSubstr("removed or replaced"));
  std::filesystem::copy_file(folder / "old.db", folder / "pgtune.db");
  EXPECT_THAT(refused(), AllOf(HasSubstr("removed or replaced"), HasSubstr("only while nothing uses it")));
}

TEST(Transactions, RollBackUnlessCommitted) {
  auto database = Database::open_memory();
  {
    const Transaction transaction(database, TransactionKind::kWrite);
    execute(database, "INSERT INTO templates (name, content_hash) VALUES ('a', 'b')");
  }
  EXPECT_EQ(query_integer(database, "SELECT count(*) FROM templates"), 0);
  Transaction transaction(database, TransactionKind::kWrite);
  execute(database, "INSERT INTO templates (name, content_hash) VALUES ('a', 'b')");
  transaction.commit();
  EXPECT_EQ(query_integer(database, "SELECT count(*) FROM templates"), 1);
}

TEST(Check, ReportsAMissingRow) {
  auto database = Database::open_memory();
  const auto session = TestSession().begin(database);
  save_trial(database, session, good_trial("A=1"));
  EXPECT_THAT(database.check(), IsEmpty());
  execute(database, "PRAGMA foreign_keys = off; DELETE FROM variants");
  EXPECT_THAT(database.check(), ::testing::ElementsAre("a row of trials refers to a missing row of variants"));
}

TEST(Check, ReportsADamagedPage) {
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  {
    auto database = Database::open(path, OpenMode::kReadWriteCreate);
    const auto session = TestSession().begin(database);
    for (int i = 0; i < 200; ++i) {
      save_trial(database, session, good_trial("A=" + std::to_string(i)));
    }
  }
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-8192, std::ios::end);
    file << std::string(4096, '\xa5');
  }
  const auto database = Database::open(path, OpenMode::kReadOnly);
  EXPECT_FALSE(database.check().empty());
  const auto error = error_of([&] { database.write_compact_copy(folder / "copy.db"); });
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("is damaged"), HasSubstr("Restore it from a copy"), HasSubstr("search again")));
}

TEST(Vacuum, GivesSpaceBack) {
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  auto database = Database::open(path, OpenMode::kReadWriteCreate);
  const auto session = TestSession().begin(database);
  for (int i = 0; i < 300; ++i) {
    save_trial(database, session, good_trial("A=" + std::to_string(i)));
  }
  const auto pages = query_integer(database, "PRAGMA page_count");
  execute(database, "DELETE FROM samples");
  database.vacuum();
  EXPECT_LT(query_integer(database, "PRAGMA page_count"), pages);
  EXPECT_EQ(std::filesystem::file_size(path),
            static_cast<std::uintmax_t>(query_integer(database, "PRAGMA page_count") * 4096));
  EXPECT_EQ(find_trials(database, TestSession().key()).size(), 300U);
}

}  // namespace
}  // namespace pgtune::db
