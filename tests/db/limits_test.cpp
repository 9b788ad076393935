// SPDX-License-Identifier: MIT
// Limits of the process: no file descriptors, no larger files. The message says so, and what was saved is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"
#include "tests/support/sanitizer_limits.hpp"

namespace pgtune::db {
namespace {

using ::testing::AllOf;
using testing::error_of;
using testing::good_trial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScratchFolder;
using testing::TestSession;

/// A lower soft limit for a while.
class LoweredLimit {
 public:
  LoweredLimit(__rlimit_resource_t resource, rlim_t limit) : resource_(resource) {
    EXPECT_EQ(::getrlimit(resource_, &before_), 0);
    rlimit lowered = before_;
    lowered.rlim_cur = limit;
    EXPECT_EQ(::setrlimit(resource_, &lowered), 0);
  }
  LoweredLimit(const LoweredLimit&) = delete;
  LoweredLimit& operator=(const LoweredLimit&) = delete;
  ~LoweredLimit() { EXPECT_EQ(::setrlimit(resource_, &before_), 0); }

 private:
  __rlimit_resource_t resource_;
  rlimit before_{};
};

TEST(OutOfDescriptors, OpeningSaysSo) {
  PGTUNE_NEEDS_NO_SANITIZER;
  const ScratchFolder folder;
  static_cast<void>(Database::open(folder / "there.db", OpenMode::kReadWriteCreate));
  const LoweredLimit none(RLIMIT_NOFILE, 3);
  EXPECT_THAT(
      error_of([&] { static_cast<void>(Database::open(folder / "new.db", OpenMode::kReadWriteCreate)); }).what(),
      AllOf(HasSubstr("no file descriptors left"), HasSubstr("ulimit -n"), HasSubstr("new.db")));
  EXPECT_THAT(error_of([&] { static_cast<void>(Database::open(folder / "there.db", OpenMode::kReadOnly)); }).what(),
              HasSubstr("Too many open files"));
}

TEST(OutOfDescriptors, WritingKeepsWhatWasSaved) {
  PGTUNE_NEEDS_NO_SANITIZER;
  const ScratchFolder folder;
  auto database = Database::open(folder / "pgtune.db", OpenMode::kReadWriteCreate);
  // A rollback journal is a file that each transaction opens.
  execute(database, "PRAGMA journal_mode = delete");
  const auto session = TestSession().begin(database);
  save_trial(database, session, good_trial("A=1"));
  {
    const LoweredLimit none(RLIMIT_NOFILE, 3);
    EXPECT_THAT(error_of([&] { save_trial(database, session, good_trial("A=2")); }).what(),
                AllOf(HasSubstr("no file descriptors left"), HasSubstr("saved before is kept")));
  }
  EXPECT_EQ(find_trials(database, TestSession().key()).size(), 1U);
  save_trial(database, session, good_trial("A=2"));
  EXPECT_EQ(find_trials(database, TestSession().key()).size(), 2U);
  EXPECT_THAT(database.check(), IsEmpty());
}

TEST(LargestFile, ALimitKeepsWhatWasSaved) {
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  auto database = Database::open(path, OpenMode::kReadWriteCreate);
  const auto session = TestSession().begin(database);
  std::size_t saved = 0;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    const LoweredLimit limit(RLIMIT_FSIZE, 500'000);
    const auto error = error_of([&] {
      for (; saved < 10'000; ++saved) {
        save_trial(database, session, good_trial("A=" + std::to_string(saved)));
      }
    });
    EXPECT_THAT(error.what(), AllOf(HasSubstr("may not grow"), HasSubstr("saved before is kept"),
                                    HasSubstr("ulimit -f"), HasSubstr("pgtune.db")));
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_GT(saved, 0U);
  EXPECT_EQ(find_trials(database, TestSession().key()).size(), saved);
  save_trial(database, session, good_trial("A=after"));
  EXPECT_EQ(find_trials(Database::open(path, OpenMode::kReadOnly), TestSession().key()).size(), saved + 1);
  EXPECT_THAT(database.check(), IsEmpty());
}

TEST(LargestFile, ACopyThatMayNotGrowLeavesNothing) {
  const ScratchFolder folder;
  auto database = Database::open(folder / "pgtune.db", OpenMode::kReadWriteCreate);
  const auto session = TestSession().begin(database);
  for (int i = 0; i < 100; ++i) {
    save_trial(database, session, good_trial("A=" + std::to_string(i)));
  }
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    const LoweredLimit limit(RLIMIT_FSIZE, 50'000);
    EXPECT_THAT(error_of([&] { database.write_compact_copy(folder / "copy.db"); }).what(),
                AllOf(HasSubstr("cannot write " + (folder / "copy.db").string()), HasSubstr("may not grow")));
  }
  std::signal(SIGXFSZ, handler);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_THAT(entry.path().filename().string(), ::testing::StartsWith("pgtune.db"));
  }
}

}  // namespace
}  // namespace pgtune::db
