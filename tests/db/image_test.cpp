// SPDX-License-Identifier: MIT
// Recordings: compact copies, opened from bytes in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/database.hpp"
#include "db/sqlite/file_header.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using testing::contents;
using testing::error_of;
using testing::good_trial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScratchFolder;
using testing::TestSession;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

class Image : public ::testing::Test {
 protected:
  Image() : database_(Database::open(folder_ / "pgtune.db", OpenMode::kReadWriteCreate)) {
    const auto session = TestSession().begin(database_);
    for (int i = 0; i < 20; ++i) {
      save_trial(database_, session, good_trial("A=" + std::to_string(i)));
    }
    BestRow best;
    best.variant_key = "A=3";
    finish_session(database_, session, best);
  }
  ScratchFolder folder_;
  Database database_;
};

TEST_F(Image, OfACompactCopyHoldsEverythingAndCannotBeWritten) {
  const auto path = folder_ / "recordings/h200.db";
  database_.write_compact_copy(path);
  const auto image = contents(path);
  auto copy = Database::open_image(bytes_of(image), "embedded recording");
  EXPECT_EQ(copy.origin(), "embedded recording");
  EXPECT_EQ(find_trials(copy, TestSession().key()).size(), 20U);
  EXPECT_EQ(find_best(copy, TestSession().key()).value().variant_key, "A=3");
  EXPECT_THAT(copy.check(), IsEmpty());
  const auto before = image;
  EXPECT_THROW(static_cast<void>(TestSession().begin(copy)), Error);
  EXPECT_EQ(image, before);
}

TEST_F(Image, IsReadCompressedFromMemoryAndFromAFile) {
  const auto path = folder_ / "recordings/h200.db.zst";
  database_.write_compact_copy(path);
  std::string image = contents(path);
  database_.write_compact_copy(folder_ / "plain.db");
  EXPECT_LT(image.size(), contents(folder_ / "plain.db").size() / 2);
  const auto embedded = Database::open_image(bytes_of(image), "embedded recording");
  EXPECT_EQ(find_trials(embedded, TestSession().key()).size(), 20U);
  auto file = Database::open(path, OpenMode::kReadOnly);
  EXPECT_EQ(find_trials(file, TestSession().key()).size(), 20U);
  EXPECT_THROW(static_cast<void>(TestSession().begin(file)), Error);
  image.resize(image.size() - 9);
  EXPECT_THROW(static_cast<void>(Database::open_image(bytes_of(image), "cut off")), Error);
  image.resize(5);
  EXPECT_THROW(static_cast<void>(Database::open_image(bytes_of(image), "cut off")), Error);
}

TEST_F(Image, OfACompactCopyIsOneFileWithARollbackJournal) {
  database_.write_compact_copy(folder_ / "copy.db");
  const auto header = parse_file_header(bytes_of(contents(folder_ / "copy.db")));
  ASSERT_TRUE(header.has_value());
  EXPECT_FALSE(header->wal);
  EXPECT_EQ(header->application_id, kApplicationId);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "copy.db-wal"));
}

TEST_F(Image, CopiesAreEqualByteForByteAndReplaceOldOnes) {
  database_.write_compact_copy(folder_ / "first.db");
  std::ofstream(folder_ / "second.db") << "something old";
  database_.write_compact_copy(folder_ / "second.db");
  EXPECT_EQ(contents(folder_ / "first.db"), contents(folder_ / "second.db"));
}

TEST_F(Image, CopiesCanBeMadeOfADatabaseOpenForReading) {
  database_.write_compact_copy(folder_ / "first.db");
  Database::open(folder_ / "pgtune.db", OpenMode::kReadOnly).write_compact_copy(folder_ / "of_log.db");
  Database::open(folder_ / "first.db", OpenMode::kReadOnly).write_compact_copy(folder_ / "of_copy.db");
  EXPECT_EQ(contents(folder_ / "of_log.db"), contents(folder_ / "first.db"));
  EXPECT_EQ(contents(folder_ / "of_copy.db").size(), contents(folder_ / "first.db").size());
}

TEST_F(Image, ACopyThatCannotBeWrittenLeavesNothing) {
  std::filesystem::create_directories(folder_ / "taken/inside");
  const auto error = error_of([&] { database_.write_compact_copy(folder_ / "taken"); });
  EXPECT_THAT(error.what(), HasSubstr("taken"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().string(), ::testing::Not(HasSubstr(".tmp-")));
  }
}

TEST_F(Image, OfAFileWithAWriteAheadLogIsRefused) {
  if (database_.journal_mode() != "wal") {
    GTEST_SKIP() << "the file system of the test folder has no write-ahead log";
  }
  const auto image = contents(folder_ / "pgtune.db");
  EXPECT_THAT(error_of([&] { static_cast<void>(Database::open_image(bytes_of(image), "x.db")); }).what(),
              HasSubstr("compact copy"));
}

TEST_F(Image, OfSomethingElseIsRefused) {
  for (const std::string text : {"", "short",
                                 "SQLite format 3 but not really, and long enough to be looked at: "
                                 "....................................................."}) {
    EXPECT_THAT(error_of([&] { static_cast<void>(Database::open_image(bytes_of(text), "x.db")); }).what(),
                HasSubstr("x.db is not a pgtune database"));
  }
}

TEST_F(Image, OfMoreThanAGigabyteIsRefused) {
  // A compressed frame's header that says 2 GiB.
  const std::string frame("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x80", 9);
  EXPECT_THAT(error_of([&] { static_cast<void>(Database::open_image(bytes_of(frame), "x.db")); }).what(),
              HasSubstr("larger than 1 GiB"));
}

TEST_F(Image, WithATriggerIsRefused) {
  execute(database_, "CREATE TRIGGER steal AFTER INSERT ON trials BEGIN DELETE FROM best; END");
  database_.write_compact_copy(folder_ / "hostile.db");
  const auto image = contents(folder_ / "hostile.db");
  EXPECT_THAT(error_of([&] { static_cast<void>(Database::open_image(bytes_of(image), "x.db")); }).what(),
              HasSubstr("trigger steal is not pgtune's"));
}

TEST_F(Image, OfAnotherVersionIsRefused) {
  execute(database_, "PRAGMA user_version = 99");
  database_.write_compact_copy(folder_ / "newer.db");
  const auto image = contents(folder_ / "newer.db");
  EXPECT_THAT(error_of([&] { static_cast<void>(Database::open_image(bytes_of(image), "x.db")); }).what(),
              HasSubstr("schema version 99"));
}

TEST(ImageSize, OfAFullGridIsAFewMegabytes) {
  const ScratchFolder folder;
  auto database = Database::open_memory();
  execute(database, "PRAGMA synchronous = off");
  for (int problem = 0; problem < 8; ++problem) {
    TestSession sample;
    sample.problem.m += problem;
    const auto session = sample.begin(database);
    for (int i = 0; i < 1500; ++i) {
      auto trial = good_trial(
          "BM=128,BN=128,BK=16,TM=8,TN=8,VEC=4,STAGES=3,COPY=cp_async,CACHE=cg,SWIZZLE=xor" + std::to_string(i),
          1e-3 / (i + 1));
      trial.build->key_hash = "0123456789abcdef0123456789ab" + std::to_string(problem) + std::to_string(i);
      trial.build->cubin_hash = trial.build->key_hash;
      trial.report.samples.push_back(testing::sample(0.123456789 / (i + 1), 3));
      save_trial(database, session, trial);
    }
  }
  database.write_compact_copy(folder / "grid.db");
  EXPECT_LT(std::filesystem::file_size(folder / "grid.db"), 6U << 20);
}

TEST(ImageSize, OfAFullRaceIsUnderSixHundredKilobytes) {
  const ScratchFolder folder;
  auto database = Database::open_memory();
  const auto session = TestSession().begin(database);
  std::vector<ContenderSamplesRow> race;
  for (int variant = 0; variant < 200; ++variant) {
    std::vector<Sample> samples;
    for (int round = 1; round <= 40; ++round) {
      auto row = testing::sample(0.0123456789 / (variant + round), variant, Stage::kRace, round);
      row.sm_clock_hz = 1.9e9 / (1 + 1e-3 * round);
      row.temperature_c = 50 + round % 3;
      row.power_cap_s = row.time_s / 3;
      row.thermal_s = 0;
      samples.push_back(row);
    }
    race.push_back(testing::rounds_of("A=" + std::to_string(variant), std::move(samples)));
  }
  save_rounds(database, session, Stage::kRace, race);
  database.write_compact_copy(folder / "race.db");
  EXPECT_LT(std::filesystem::file_size(folder / "race.db"), 600U << 10);
}

}  // namespace
}  // namespace pgtune::db
