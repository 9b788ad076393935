// SPDX-License-Identifier: MIT
#include "db/upkeep/prune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/queries/queries.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using ::testing::ElementsAre;
using testing::good_trial;
using ::testing::IsEmpty;
using testing::TestSession;

class Prune : public ::testing::Test {
 protected:
  /// A session with one trial of its own variant; its id.
  RowId session(const TestSession& sample, bool finished = true) {
    const RowId id = sample.begin(database_);
    const std::string key = "A=" + std::to_string(id);
    save_trial(database_, id, good_trial(key));
    save_rounds(database_, id, Stage::kFinal, {testing::rounds_of(key, {testing::sample(1)})});
    BestRow best;
    best.variant_key = key;
    if (finished) {
      finish_session(database_, id, best);
    }
    return id;
  }
  std::vector<RowId> pruned(const PruneRules& rules) {
    std::vector<RowId> ids;
    for (const auto& dropped : prune(database_, rules)) {
      ids.push_back(dropped.session.id);
    }
    EXPECT_THAT(database_.check(), IsEmpty());
    return ids;
  }
  Database database_ = Database::open_memory();
};

TEST_F(Prune, KeepsTheNewestOfEachQuestion) {
  TestSession other_problem;
  other_problem.problem.m = 1024;
  TestSession bench;
  bench.session.kind = "bench";
  TestSession burst, other_template;
  burst.session.conditions_key = "burst";
  other_template.template_row.name = "mine";
  const auto first = session({}), second = session({});
  session(other_problem);
  session(bench);
  session(burst);
  session(other_template);
  session({}, false);
  session({});
  PruneRules rules;
  rules.keep_newest = 2;
  EXPECT_EQ(sessions_to_prune(database_, rules).at(0).reason, "2 newer ones");
  EXPECT_THAT(pruned(rules), ElementsAre(first));
  rules.keep_newest = 1;
  EXPECT_THAT(pruned(rules), ElementsAre(second));
  EXPECT_THAT(pruned(rules), IsEmpty());
  rules.keep_newest = 0;
  EXPECT_EQ(pruned(rules).size(), 5U);
  EXPECT_EQ(list_sessions(database_).size(), 1U);
}

TEST_F(Prune, BoardsOfAClassCountAsOneWhereThatIsAskedFor) {
  TestSession other_board, other_class;
  other_board.device.uuid = "GPU-other";
  other_class.device.uuid = "GPU-third";
  other_class.device.sm_count += 1;
  const auto first = session({}), second = session(other_board);
  session({});
  session(other_class);
  EXPECT_THAT(pruned({.keep_newest = 1}), ElementsAre(first));
  EXPECT_THAT(pruned({.keep_newest = 1, .any_board = true}), ElementsAre(second));
  EXPECT_EQ(list_sessions(database_).size(), 2U);
}

TEST_F(Prune, KeepsTheTrialsThatANewerSearchWentOnWith) {
  const auto unused = session({}, false), interrupted = session({}, false), went_on = TestSession().begin(database_);
  save_rounds(database_, went_on, Stage::kFinal,
              {testing::rounds_of("A=" + std::to_string(interrupted), {testing::sample(1)})});
  finish_session(database_, went_on, std::nullopt);
  execute(database_, "UPDATE sessions SET started_at = '2020-01-01T00:00:00Z'");
  execute(database_, "UPDATE trials SET recorded_at = 0");
  const PruneRules rules{.keep_newest = 1, .unfinished = true};
  EXPECT_THAT(pruned(rules), ElementsAre(unused));
  const auto newest = session({});
  EXPECT_THAT(pruned(rules), ElementsAre(went_on, interrupted));
  EXPECT_EQ(list_sessions(database_).at(0).id, newest);
}

TEST_F(Prune, DropsRecordedAndSilentUnfinishedSessions) {
  TestSession elsewhere;
  elsewhere.session.recorded = true;
  const auto recorded = session(elsewhere), killed = session({}, false), busy = session({}, false),
             running = session({}, false);
  execute(database_,
          "UPDATE sessions SET started_at = '2026-01-01T00:00:00Z';"
          "UPDATE trials SET recorded_at = 0 WHERE session = " +
              std::to_string(killed));
  static_cast<void>(busy);
  execute(database_, "DELETE FROM samples; DELETE FROM trials WHERE session = " + std::to_string(running) +
                         "; UPDATE sessions SET started_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = " +
                         std::to_string(running));
  EXPECT_THAT(pruned({.unfinished = true}), ElementsAre(killed));
  EXPECT_THAT(pruned({.keep_newest = 0}), IsEmpty()) << "no rule but its own is about a recorded one";
  EXPECT_THAT(pruned({.recorded = true}), ElementsAre(recorded));
  EXPECT_EQ(list_sessions(database_).size(), 2U);
}

TEST_F(Prune, LeavesNoRowThatNothingRefersTo) {
  TestSession other;
  other.device.uuid = "GPU-other";
  other.problem.m = 1024;
  other.template_row = {"mine", "hash"};
  other.device.driver_version = "550.1";
  other.session.conditions_key = "burst";
  session(other);
  session({});
  auto untouched = Database::open_memory();
  std::swap(database_, untouched);
  session({});
  const auto expected = totals(database_).rows;
  std::swap(database_, untouched);
  execute(database_, "UPDATE sessions SET source = 'replay' WHERE id = 1");
  EXPECT_EQ(pruned({.recorded = true}).size(), 1U);
  EXPECT_EQ(totals(database_).rows, expected);
}

TEST_F(Prune, LookingChangesNothing) {
  session({});
  session({});
  PruneRules rules;
  rules.keep_newest = 1;
  EXPECT_EQ(sessions_to_prune(database_, rules).size(), 1U);
  EXPECT_EQ(list_sessions(database_).size(), 2U);
  EXPECT_THAT(pruned({}), IsEmpty());
}

}  // namespace
}  // namespace pgtune::db
