// SPDX-License-Identifier: MIT
// Merging: whatever the order and repetition of the inputs, the same file; nothing lost, nothing twice.
#include "db/upkeep/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::contents;
using testing::dumped;
using testing::error_of;
using testing::good_trial;
using ::testing::HasSubstr;
using testing::rounds_of;
using testing::sample;
using testing::ScratchFolder;
using testing::TestSession;

class MergeTest : public ::testing::Test {
 protected:
  /// A finished search of some variants on one device.
  static RowId search(Database& database, const std::string& device, int trials, double time_s) {
    TestSession fixture;
    fixture.device.uuid = device;
    const RowId session = fixture.begin(database);
    save_baseline(database, session, testing::baseline("cuBLASLt"));
    for (int i = 0; i < trials; ++i) {
      save_trial(database, session, good_trial("A=" + std::to_string(i), time_s + i));
    }
    save_rounds(database, session, Stage::kRace,
                {rounds_of("A=1", {sample(time_s, 0, Stage::kRace)}), rounds_of(0, {sample(2, 1)})});
    save_rounds(database, session, Stage::kFinal,
                {rounds_of("A=1", {sample(time_s, 0)}), rounds_of(0, {sample(2, 1)})});
    EnergyWindowRow energy;
    energy.contender = VariantRow{"A=1", "{}"};
    energy.window.energy_j = 100;
    save_energy(database, session, energy);
    BestRow best;
    best.variant_key = "A=1";
    best.time_s = time_s;
    finish_session(database, session, best);
    return session;
  }

  MergeTest() {
    auto a = Database::open(a_, OpenMode::kReadWriteCreate);
    search(a, "GPU-a", 3, 1e-3);
    auto b = Database::open(b_, OpenMode::kReadWriteCreate);
    search(b, "GPU-b", 2, 2e-3);
    save_ceilings(b, TestSession().device, TestSession().program, testing::ceilings(4));
    // Across files, the time in the uid decides: another millisecond.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    search(a, "GPU-a", 4, 3e-3);
  }

  fs::path merged(const std::string& name, const std::vector<fs::path>& inputs) {
    static_cast<void>(merge(inputs, folder_ / name));
    return folder_ / name;
  }

  static Database reader(const fs::path& path) { return Database::open(path, OpenMode::kReadOnly); }

  ScratchFolder folder_;
  fs::path a_ = folder_ / "a.db", b_ = folder_ / "b.db";
};

TEST_F(MergeTest, HoldsEverySessionOfEveryInput) {
  const MergeReport report = merge({a_, b_}, folder_ / "c.db");
  EXPECT_EQ(report.sessions, 3);
  ASSERT_EQ(report.inputs.size(), 2U);
  EXPECT_EQ(report.inputs[0].sessions, 2);
  EXPECT_EQ(report.inputs[0].taken, 2);
  EXPECT_EQ(report.inputs[1].taken, 1);
  const auto c = Database::open(folder_ / "c.db", OpenMode::kReadOnly);
  EXPECT_THAT(c.check(), ::testing::IsEmpty());
  const auto sessions = list_sessions(c);
  ASSERT_EQ(sessions.size(), 3U);
  // In the order of their beginning, though the second file's was between the first file's.
  EXPECT_EQ(sessions[2].device_uuid, "GPU-a");
  EXPECT_EQ(sessions[1].device_uuid, "GPU-b");
  EXPECT_EQ(sessions[0].device_uuid, "GPU-a");
  EXPECT_GT(sessions[0].uid, sessions[1].uid);
  EXPECT_EQ(sessions[1].command_line, TestSession().session.command_line);
  EXPECT_EQ(sessions[1].seed, TestSession().session.seed);
  TestSession on_a;
  on_a.device.uuid = "GPU-a";
  EXPECT_EQ(find_best(c, on_a.key()).value().time_s, 3e-3);
  EXPECT_EQ(find_trials(c, on_a.key()).size(), 4U);
  EXPECT_EQ(find_trials(c, on_a.key()).at("A=0").report.samples.at(0).time_s, 3e-3);
  EXPECT_EQ(session_rounds(c, sessions[1].id).size(), 2U);
  EXPECT_EQ(energy_windows(c, sessions[1].id).at(0).window.energy_j, 100);
  EXPECT_EQ(find_ceilings(c, TestSession().device), testing::ceilings(4));
}

TEST_F(MergeTest, BoardsOfAClassAnswerForEachOther) {
  const auto c = reader(merged("c.db", {a_, b_}));
  TestSession on_b;
  on_b.device.uuid = "GPU-b";
  ResultKey own = on_b.key();
  own.only_board = "GPU-b";
  EXPECT_EQ(find_best(c, own).value().time_s, 2e-3);
  EXPECT_EQ(find_best(c, on_b.key()).value().device_uuid, "GPU-a");
  EXPECT_EQ(find_trials_for(c, on_b.key(), "GPU-b").at("A=1").device_uuid, "GPU-b");
  EXPECT_EQ(find_trials_for(c, on_b.key(), "GPU-b").at("A=3").device_uuid, "GPU-a") << "it tried A=0 and A=1 alone";
}

TEST_F(MergeTest, IsTheSameFileInAnyOrderAndWithRepeats) {
  const std::string expected = contents(merged("ab.db", {a_, b_}));
  EXPECT_EQ(contents(merged("ba.db", {b_, a_})), expected);
  EXPECT_EQ(contents(merged("abab.db", {a_, b_, a_, b_})), expected);
  EXPECT_EQ(contents(merged("again.db", {folder_ / "ab.db", b_, a_})), expected);
  EXPECT_EQ(contents(merged("alone.db", {folder_ / "ab.db"})), expected);
  const fs::path b_then_both = merged("bb.db", {merged("b_only.db", {b_}), folder_ / "ab.db"});
  EXPECT_EQ(contents(b_then_both), expected);
}

TEST_F(MergeTest, IsTheSameHoweverTheInputsAreGrouped) {
  const fs::path c = folder_ / "c.db", d = folder_ / "d.db";
  for (const fs::path& more : {c, d}) {
    auto database = Database::open(more, OpenMode::kReadWriteCreate);
    search(database, "GPU-a", 2, 4e-3);
  }
  const std::string expected = contents(merged("all.db", {a_, b_, c, d}));
  EXPECT_EQ(contents(merged("grouped.db", {merged("dc.db", {d, c}), merged("ba.db", {b_, a_})})), expected);
  EXPECT_EQ(contents(merged("nested.db", {b_, folder_ / "dc.db", a_, folder_ / "all.db"})), expected);
  EXPECT_EQ(list_sessions(Database::open(folder_ / "all.db", OpenMode::kReadOnly)).size(), 5U);
}

TEST_F(MergeTest, OfOneFileHoldsWhatTheFileHolds) {
  EXPECT_EQ(dumped(reader(merged("copy.db", {a_}))), dumped(reader(a_)));
  EXPECT_NE(dumped(reader(a_)), dumped(reader(b_)));
}

TEST_F(MergeTest, TakesASessionFromTheFileThatKnowsMostOfIt) {
  auto growing = Database::open(a_, OpenMode::kReadWriteCreate);
  const RowId session = TestSession().begin(growing);
  save_trial(growing, session, good_trial("A=1"));
  growing.write_compact_copy(folder_ / "early.db");
  save_trial(growing, session, good_trial("A=2"));
  growing.write_compact_copy(folder_ / "late.db");
  finish_session(growing, session, std::nullopt);
  const std::string expected = contents(merged("finished.db", {a_}));
  EXPECT_EQ(contents(merged("mixed.db", {folder_ / "early.db", folder_ / "late.db", a_})), expected);
  EXPECT_EQ(contents(merged("reversed.db", {a_, folder_ / "late.db", folder_ / "early.db"})), expected);
  const auto late =
      Database::open(merged("unfinished.db", {folder_ / "late.db", folder_ / "early.db"}), OpenMode::kReadOnly);
  ResultKey own = TestSession().key();
  own.only_board = TestSession().device.uuid;
  EXPECT_EQ(find_trials(late, own).size(), 2U);
}

TEST_F(MergeTest, OfVersionsThatDifferInNothingButContentIsStillOrderIndependent) {
  Database::open(b_, OpenMode::kReadOnly).write_compact_copy(folder_ / "edited.db");
  execute(Database::open(folder_ / "edited.db", OpenMode::kReadWriteCreate), "UPDATE samples SET time_s = 7");
  EXPECT_EQ(contents(merged("first.db", {b_, folder_ / "edited.db"})),
            contents(merged("second.db", {folder_ / "edited.db", b_})));
}

TEST_F(MergeTest, SessionsThatBeganAlikeInTwoFilesAreTwo) {
  // One file per process: same command, same second, same device.
  for (const std::string name : {"one.db", "two.db"}) {
    auto database = Database::open(folder_ / name, OpenMode::kReadWriteCreate);
    save_trial(database, TestSession().begin(database), good_trial("A=1"));
  }
  EXPECT_EQ(merge({folder_ / "one.db", folder_ / "two.db"}, folder_ / "both.db").sessions, 2);
}

TEST_F(MergeTest, SearchingGoesOnInTheMergedFile) {
  auto c = Database::open(merged("c.db", {a_, b_}), OpenMode::kReadWriteCreate);
  const std::string newest = list_sessions(c).front().uid;
  search(c, "GPU-b", 2, 5e-3);
  EXPECT_GT(list_sessions(c).front().uid, newest);
  TestSession on_b;
  on_b.device.uuid = "GPU-b";
  EXPECT_EQ(find_best(c, on_b.key()).value().time_s, 5e-3);
}

class MergeRefuses : public MergeTest {
 protected:
  /// Merging with this input fails and leaves neither output nor temporary files.
  void expect_refused(const fs::path& input, const std::string& why) {
    const auto files = std::distance(fs::directory_iterator(folder_.path()), {});
    EXPECT_THAT(error_of([&] {
                  static_cast<void>(merge({a_, input}, folder_ / "c.db"));
                }).what(),
                AllOf(HasSubstr(input.filename().string()), HasSubstr(why)));
    EXPECT_FALSE(fs::exists(folder_ / "c.db"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), files);
  }
};

TEST_F(MergeRefuses, WhatIsNotOurs) {
  std::ofstream(folder_ / "notes.txt") << std::string(4096, 'x');
  expect_refused(folder_ / "notes.txt", "is not a pgtune database");
  expect_refused(folder_ / "missing.db", "there is no database");
}

TEST_F(MergeRefuses, AnotherSchema) {
  execute(Database::open(b_, OpenMode::kReadWriteCreate), "PRAGMA user_version = 99");
  const std::string before = contents(b_);
  expect_refused(b_, "is of schema version 99");
  EXPECT_EQ(contents(b_), before);
}

TEST_F(MergeRefuses, ADamagedFile) {
  execute(Database::open(b_, OpenMode::kReadWriteCreate), "PRAGMA foreign_keys = off; DELETE FROM variants");
  expect_refused(b_, "is damaged (a row of best refers to a missing row of variants). Nothing was merged");
}

TEST_F(MergeRefuses, AnOutputThatExists) {
  std::ofstream(folder_ / "there.db") << "precious";
  EXPECT_THAT(error_of([&] {
                static_cast<void>(merge({a_, b_}, folder_ / "there.db"));
              }).what(),
              AllOf(HasSubstr("there.db exists already"), HasSubstr("Merge into a new file")));
  EXPECT_EQ(contents(folder_ / "there.db"), "precious");
}

TEST_F(MergeTest, OneSessionIsStoredAsRecordedOnceAndWhole) {
  const Database recording = Database::open(b_, OpenMode::kReadOnly);
  Database database = Database::open_memory();
  const SessionRow session = list_sessions(recording).front();
  for (int i = 0; i < 2; ++i) store_recorded(recording, session.id, database);
  ASSERT_EQ(list_sessions(database).size(), 1U);
  const SessionRow stored = list_sessions(database).front();
  EXPECT_TRUE(stored.recorded);
  EXPECT_EQ(stored.uid, session.uid);
  EXPECT_EQ(stored.finished_at, session.finished_at);
  EXPECT_EQ(totals(database).rows.at("trials"), 2);
  EXPECT_TRUE(list_best(database, {.recorded = false}).empty());
  ASSERT_EQ(list_best(database, {.recorded = true}).size(), 1U);
  const ResultKey measured = [&] {
    ResultKey key = key_of(list_best(database, {}).front());
    key.recorded = false;
    return key;
  }();
  EXPECT_FALSE(find_best(database, measured));
  EXPECT_TRUE(find_trials(database, measured).empty());
}

TEST_F(MergeTest, CeilingsOfARecordedSessionAreStoredAsRecordedOnce) {
  const DeviceInfo device = TestSession().device;
  auto recording = Database::open(b_, OpenMode::kReadWriteCreate);
  TestSession session;
  const RowId id = session.begin(recording);
  Database database = Database::open_memory();
  for (int i = 0; i < 2; ++i) store_recorded(recording, id, database);
  EXPECT_EQ(find_ceilings(database, device, true), testing::ceilings(4));
  EXPECT_FALSE(find_ceilings(database, device)) << "not for a search on that GPU";
  EXPECT_EQ(totals(database).rows.at("ceilings"), 1);
  save_ceilings(database, device, session.program, testing::ceilings(2));
  EXPECT_EQ(find_ceilings(database, device, true), testing::ceilings(2)) << "measured ones are preferred";
}

}  // namespace
}  // namespace pgtune::db
