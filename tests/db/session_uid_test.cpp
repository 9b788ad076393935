// SPDX-License-Identifier: MIT
#include "db/queries/queries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/sqlite/statement.hpp"
#include "db/sqlite/timestamp.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using testing::TestSession;

std::vector<std::string> uids(const Database& database) {
  std::vector<std::string> all;
  for (const auto& session : list_sessions(database)) {
    all.insert(all.begin(), session.uid);
  }
  return all;
}

TEST(SessionUid, IsAUuidOfTheTimeAndUnlikeAnyOther) {
  const std::int64_t before = unix_time_ms();
  auto one = Database::open_memory(), other = Database::open_memory();
  static_cast<void>(TestSession().begin(one));
  static_cast<void>(TestSession().begin(other));
  EXPECT_THAT(uids(one).at(0),
              ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_GE(uid_time_ms(uids(one).at(0)), before);
  EXPECT_LE(uid_time_ms(uids(one).at(0)), unix_time_ms());
  EXPECT_NE(uids(one), uids(other));
}

TEST(SessionUid, GrowsInsideAFileEvenInOneMillisecond) {
  auto database = Database::open_memory();
  for (int i = 0; i < 50; ++i) {
    static_cast<void>(TestSession().begin(database));
  }
  const auto all = uids(database);
  ASSERT_EQ(all.size(), 50U);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST(SessionUid, GrowsWhenTheClockWasSetBack) {
  auto database = Database::open_memory();
  static_cast<void>(TestSession().begin(database));
  const std::string future = "7fffffff-0000-7000-8000-000000000000";
  execute(database, "UPDATE sessions SET uid = '" + future + "'");
  const auto later = TestSession().begin(database);
  EXPECT_EQ(list_sessions(database).front().id, later);
  EXPECT_EQ(uid_time_ms(list_sessions(database).front().uid), uid_time_ms(future) + 1);
}

TEST(SessionUid, TheClockDecidesNeitherTheNewestAnswerNorTrial) {
  auto database = Database::open_memory();
  for (const double time_s : {1e-3, 2e-3}) {
    const auto session = TestSession().begin(database);
    save_trial(database, session, testing::good_trial("A=1", time_s));
    BestRow best;
    best.variant_key = "A=1";
    best.time_s = time_s;
    finish_session(database, session, best);
    // What was written first was written by a clock that ran ahead.
    execute(
        database,
        "UPDATE sessions SET started_at = '2099-01-01T00:00:00Z', finished_at = '2099-01-01T00:00:01Z' WHERE id = 1;"
        "UPDATE trials SET recorded_at = 4070908800000 WHERE session = 1");
  }
  EXPECT_EQ(find_best(database, TestSession().key()).value().time_s, 2e-3);
  EXPECT_EQ(find_trials(database, TestSession().key()).at("A=1").report.samples.at(0).time_s, 2e-3);
  EXPECT_EQ(list_sessions(database).front().id, 2);
}

TEST(SessionUid, CeilingsAreNeverOlderThanTheLast) {
  auto database = Database::open_memory();
  const TestSession sample;
  save_ceilings(database, sample.device, sample.program, testing::ceilings(1));
  execute(database, "UPDATE ceilings SET measured_at = '2099-01-01T00:00:00Z'");
  save_ceilings(database, sample.device, sample.program, testing::ceilings(2));
  EXPECT_EQ(find_ceilings(database, sample.device), testing::ceilings(2));
  EXPECT_EQ(query_integer(database, "SELECT count(*) FROM ceilings WHERE measured_at = '2099-01-01T00:00:00Z'"), 2);
}

}  // namespace
}  // namespace pgtune::db
