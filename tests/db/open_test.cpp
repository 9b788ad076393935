// SPDX-License-Identifier: MIT
// Opening: what is made, and what is refused with which words.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::contents;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScratchFolder;
using testing::TestSession;

constexpr OpenMode kBothModes[] = {OpenMode::kReadOnly, OpenMode::kReadWriteCreate};

std::string open_error(const fs::path& path, OpenMode mode) {
  return error_of([&] { static_cast<void>(Database::open(path, mode)); }).what();
}

/// Makes a database and spoils it with SQL.
void make_database(const fs::path& path, const std::string& sql) {
  const auto database = Database::open(path, OpenMode::kReadWriteCreate);
  execute(database, sql);
}

/// Acts as a user without rights on root's files, where tests run as root.
class Unprivileged {
 public:
  Unprivileged() : was_root_(::geteuid() == 0), works_(!was_root_ || ::seteuid(65534) == 0) {}
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (was_root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  /// Whether the effective user lost its rights but still sees the file.
  [[nodiscard]] bool sees(const fs::path& path) const {
    return works_ && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0;
  }

 private:
  bool was_root_, works_;
};

TEST(Open, MakesMissingFoldersAndADatabaseWithASchema) {
  const ScratchFolder folder;
  const auto path = folder / "a/b/pgtune.db";
  const auto database = Database::open(path, OpenMode::kReadWriteCreate);
  EXPECT_EQ(database.schema_version(), kSchemaVersion);
  EXPECT_EQ(query_integer(database, "PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(query_integer(database, "PRAGMA foreign_keys"), 1);
  EXPECT_EQ(database.origin(), path.string());
  EXPECT_THAT(database.check(), IsEmpty());
}

TEST(Open, AnEmptyFileBecomesADatabase) {
  const ScratchFolder folder;
  std::ofstream(folder / "empty.db").close();
  EXPECT_EQ(Database::open(folder / "empty.db", OpenMode::kReadWriteCreate).schema_version(), kSchemaVersion);
}

TEST(Open, ReadingDoesNotWrite) {
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  make_database(path, "SELECT 1");
  auto database = Database::open(path, OpenMode::kReadOnly);
  const auto error = error_of([&] { static_cast<void>(TestSession().begin(database)); });
  EXPECT_THAT(error.what(), HasSubstr("cannot be written"));
}

TEST(Open, ReadingLeavesNoFilesBehind) {
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  make_database(path, "SELECT 1");
  const auto before = contents(path);
  EXPECT_EQ(totals(Database::open(path, OpenMode::kReadOnly)).rows.at("trials"), 0);
  EXPECT_EQ(contents(path), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(Open, ReadersSeeWhatAWriterCommits) {
  const ScratchFolder folder;
  auto writer = Database::open(folder / "pgtune.db", OpenMode::kReadWriteCreate);
  const auto reader = Database::open(folder / "pgtune.db", OpenMode::kReadOnly);
  const auto session = TestSession().begin(writer);
  save_trial(writer, session, testing::good_trial("A=1"));
  EXPECT_EQ(find_trials(reader, TestSession().key()).size(), 1U);
}

TEST(Open, NamesThatSqliteWouldInterpretAreJustNames) {
  const ScratchFolder folder;
  for (const std::string name : {":memory:", "file:x?mode=memory", "per%20cent#1"}) {
    static_cast<void>(Database::open(folder / name, OpenMode::kReadWriteCreate));
    EXPECT_TRUE(fs::exists(folder / name)) << name;
    EXPECT_EQ(Database::open(folder / name, OpenMode::kReadOnly).schema_version(), kSchemaVersion) << name;
  }
}

TEST(OpenRefuses, AMissingFileForReading) {
  const ScratchFolder folder;
  EXPECT_THAT(open_error(folder / "none.db", OpenMode::kReadOnly),
              AllOf(HasSubstr("there is no database"), HasSubstr("none.db"), HasSubstr("pgtune search")));
  EXPECT_FALSE(fs::exists(folder / "none.db"));
}

TEST(OpenRefuses, ToMakeOneWithTheNameOfACompressedCopy) {
  const ScratchFolder folder;
  EXPECT_THAT(open_error(folder / "new.db.zst", OpenMode::kReadWriteCreate), HasSubstr("Name a file without .zst"));
  EXPECT_FALSE(fs::exists(folder / "new.db.zst"));
  std::ofstream(folder / "plain.zst") << std::string(4096, 'x');
  EXPECT_THAT(open_error(folder / "plain.zst", OpenMode::kReadOnly), HasSubstr("is not a compressed database"));
}

TEST(OpenRefuses, ATextFile) {
  const ScratchFolder folder;
  const auto path = folder / "notes.txt";
  const std::string text = "not a database\n" + std::string(4096, 'x');
  std::ofstream(path) << text;
  for (const auto mode : kBothModes) {
    EXPECT_THAT(open_error(path, mode),
                AllOf(HasSubstr("notes.txt is not a pgtune database"), HasSubstr("Name a database")));
  }
  EXPECT_EQ(contents(path), text);
}

TEST(OpenRefuses, AnEmptyFileForReading) {
  const ScratchFolder folder;
  std::ofstream(folder / "empty.db").close();
  EXPECT_THAT(open_error(folder / "empty.db", OpenMode::kReadOnly), HasSubstr("is not a pgtune database: it is empty"));
}

TEST(OpenRefuses, AnotherApplicationsDatabase) {
  const ScratchFolder folder;
  make_database(folder / "with_id.db", "PRAGMA application_id = 252006674");
  make_database(folder / "without_id.db", "PRAGMA application_id = 0");
  for (const std::string name : {"with_id.db", "without_id.db"}) {
    const auto before = contents(folder / name);
    for (const auto mode : kBothModes) {
      EXPECT_THAT(open_error(folder / name, mode), HasSubstr("another application's SQLite file")) << name;
    }
    EXPECT_EQ(contents(folder / name), before) << name;
  }
}

TEST(OpenRefuses, AnotherVersionAndLeavesItUntouched) {
  for (const std::string version : {"99", "-1"}) {
    const ScratchFolder folder;
    const auto path = folder / "other.db";
    make_database(path, "PRAGMA user_version = " + version);
    const auto before = contents(path);
    for (const auto mode : {OpenMode::kReadOnly, OpenMode::kReadOnlyAsIs, OpenMode::kReadWriteCreate}) {
      EXPECT_THAT(open_error(path, mode), AllOf(HasSubstr("other.db is of schema version " + version),
                                                HasSubstr("(schema version " + std::to_string(kSchemaVersion) + ")"),
                                                HasSubstr("the pgtune that wrote it"), HasSubstr("untouched")));
    }
    EXPECT_EQ(contents(path), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "files were left beside it";
  }
}

/// Two versions side by side: a search of the older one is running when the newer one brings the file up to date.
TEST(OpenDatabase, ATransactionThatIsCommittedLeavesTheNextOneAlone) {
  const auto database = Database::open_memory();
  {
    Transaction done(database, TransactionKind::kWrite);
    done.commit();
    execute(database, "BEGIN");
  }
  EXPECT_NO_THROW(execute(database, "COMMIT"));
}

TEST(OpenDatabase, IsNoLongerWrittenToOnceANewerVersionHasIt) {
  const ScratchFolder folder;
  const auto older = Database::open(folder / "shared.db", OpenMode::kReadWriteCreate);
  Transaction(older, TransactionKind::kWrite).commit();
  const auto newer = Database::open(folder / "shared.db", OpenMode::kReadWriteCreate);
  execute(newer, "PRAGMA user_version = 99");
  try {
    Transaction(older, TransactionKind::kWrite).commit();
    ADD_FAILURE() << "an older version writes to a newer file";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("shared.db"), HasSubstr("schema version 99"), HasSubstr("newer pgtune")));
  }
  // It holds no lock, and reads what it can.
  execute(newer, "PRAGMA user_version = 100");
  EXPECT_EQ(older.schema_version(), 100);
}

TEST(OpenRefuses, ANewerVersionThatIsStillInTheLog) {
  const ScratchFolder folder;
  const auto path = folder / "newer.db";
  const auto writer = Database::open(path, OpenMode::kReadWriteCreate);
  execute(writer, "PRAGMA user_version = 99");
  EXPECT_THAT(open_error(path, OpenMode::kReadWriteCreate), HasSubstr("schema version 99"));
}

TEST(OpenRefuses, AFileWithoutASchemaForReading) {
  const ScratchFolder folder;
  make_database(folder / "begun.db", "PRAGMA user_version = 0");
  EXPECT_THAT(open_error(folder / "begun.db", OpenMode::kReadOnly),
              AllOf(HasSubstr("holds nothing yet"), HasSubstr("pgtune search")));
}

TEST(OpenRefuses, AFolder) {
  const ScratchFolder folder;
  for (const auto mode : kBothModes) {
    EXPECT_THAT(open_error(folder.path(), mode), HasSubstr("is a folder"));
  }
}

TEST(OpenRefuses, ADeviceFile) {
  EXPECT_THAT(open_error("/dev/null", OpenMode::kReadWriteCreate), HasSubstr("not a regular file"));
}

TEST(OpenRefuses, AFileWhereAFolderIsNeeded) {
  const ScratchFolder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_THAT(open_error(folder / "file/pgtune.db", OpenMode::kReadWriteCreate), HasSubstr("cannot create folder"));
}

TEST(OpenRefuses, AReadOnlyFileOrFolderForWriting) {
  for (const auto& [file, around, words] : {std::tuple{0444U, 0777U, "chmod"}, std::tuple{0666U, 0555U, "folder "}}) {
    const ScratchFolder folder;
    const auto path = folder / "pgtune.db";
    make_database(path, "SELECT 1");
    fs::permissions(path, fs::perms{file});
    fs::permissions(folder.path(), fs::perms{around});
    const Unprivileged user;
    if (!user.sees(path)) {
      GTEST_SKIP() << "this user cannot give up its rights on " << path;
    }
    EXPECT_THAT(open_error(path, OpenMode::kReadWriteCreate), AllOf(HasSubstr("is read-only"), HasSubstr(words)));
  }
}

TEST(OpenRefuses, AFolderWhereNobodyCanMakeFiles) {
  if (!fs::exists("/proc/self")) {
    GTEST_SKIP() << "no /proc here";
  }
  EXPECT_THAT(open_error("/proc/pgtune.db", OpenMode::kReadWriteCreate), HasSubstr("/proc/pgtune.db"));
}

TEST(Open, ReadsInAReadOnlyFolder) {
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  {
    auto database = Database::open(path, OpenMode::kReadWriteCreate);
    static_cast<void>(TestSession().begin(database));
  }
  fs::permissions(folder.path(), fs::perms{0555});
  for (const unsigned permissions : {0444U, 0666U}) {
    fs::permissions(path, fs::perms{permissions});
    const Unprivileged user;
    if (!user.sees(path)) {
      GTEST_SKIP() << "this user cannot give up its rights on " << path;
    }
    EXPECT_EQ(list_sessions(Database::open(path, OpenMode::kReadOnly)).size(), 1U) << permissions;
  }
}

TEST(Open, MovesWithItsConnection) {
  auto first = Database::open_memory();
  auto second = std::move(first);
  static_cast<void>(TestSession().begin(second));
  first = Database::open_memory();
  EXPECT_THAT(list_sessions(first), IsEmpty());
  EXPECT_EQ(list_sessions(second).size(), 1U);
}

}  // namespace
}  // namespace pgtune::db
