// SPDX-License-Identifier: MIT
// Saving trials and finding them again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "db/queries/queries.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using testing::error_of;
using testing::failed_trial;
using testing::good_trial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::sample;
using testing::TestSession;

class Trials : public ::testing::Test {
 protected:
  Database database_ = Database::open_memory();
  TestSession sample_;
};

TEST_F(Trials, ComeBackAsTheyWereSaved) {
  auto trial = good_trial("BM=128,COPY=cp_async", 0.00123);
  trial.report.cut = true;
  trial.build->local_bytes = 8;
  trial.build->spill_bytes = 16;
  trial.report.samples[1] = {Stage::kFinal, 3, 2, 77, 0.5, 0, true, 61.5, 0.125, 0};
  save_trial(database_, sample_.begin(database_), trial);

  const auto found = find_trials(database_, sample_.key());
  ASSERT_EQ(found.size(), 1U);
  const auto& [key, copy] = *found.begin();
  EXPECT_EQ(key, "BM=128,COPY=cp_async");
  EXPECT_EQ(copy.variant.key, key);
  EXPECT_EQ(copy.variant.parameters_json, trial.variant.parameters_json);
  ASSERT_TRUE(copy.build.has_value());
  EXPECT_EQ(copy.build->key_hash, trial.build->key_hash);
  EXPECT_EQ(copy.build->cubin_hash, trial.build->cubin_hash);
  EXPECT_EQ(copy.build->registers, 128);
  EXPECT_EQ(copy.build->static_smem_bytes, 32768);
  EXPECT_EQ(copy.build->local_bytes, 8);
  EXPECT_EQ(copy.build->spill_bytes, 16);
  EXPECT_EQ(copy.build->compile_s, 0.25);
  EXPECT_EQ(copy.report.outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(copy.report.outcome.reason, "");
  EXPECT_TRUE(copy.report.cut);
  EXPECT_EQ(copy.report.check, (CheckReport{0.125, 1e-7}));
  ASSERT_EQ(copy.report.samples.size(), 3U);
  EXPECT_EQ(copy.report.samples[0].time_s, 0.00123);
  EXPECT_EQ(copy.report.samples[0].stage, Stage::kScreen);
  EXPECT_EQ(copy.report.samples[0].sm_clock_hz, 1.98e9);
  EXPECT_EQ(copy.report.samples[1].stage, Stage::kFinal);
  EXPECT_EQ(copy.report.samples[1].round, 3);
  EXPECT_EQ(copy.report.samples[1].position, 2);
  EXPECT_EQ(copy.report.samples[1].launches, 77);
  EXPECT_EQ(copy.report.samples[1].time_s, 0.5);
  EXPECT_EQ(copy.report.samples[1].sm_clock_hz, 0);
  EXPECT_TRUE(copy.report.samples[1].graph);
  EXPECT_EQ(copy.report.samples[1].temperature_c, 61.5);
  EXPECT_EQ(copy.report.samples[1].power_cap_s, 0.125);
  EXPECT_EQ(copy.report.samples[1].thermal_s, 0.0);
  EXPECT_FALSE(copy.report.samples[0].graph);
  EXPECT_EQ(copy.report.samples[0].temperature_c, std::nullopt);
  EXPECT_EQ(copy.report.samples[0].power_cap_s, std::nullopt);
  EXPECT_EQ(copy.report.samples[0].thermal_s, std::nullopt);
}

TEST_F(Trials, ThatFailedBeforeABuildHaveNone) {
  save_trial(database_, sample_.begin(database_),
             failed_trial("A=1", OutcomeKind::kCompileFailed, "line 3: expected ';'"));
  const auto trial = find_trials(database_, sample_.key()).at("A=1");
  EXPECT_FALSE(trial.build.has_value());
  EXPECT_EQ(trial.report.outcome.kind, OutcomeKind::kCompileFailed);
  EXPECT_EQ(trial.report.outcome.reason, "line 3: expected ';'");
  EXPECT_FALSE(trial.report.check.has_value());
  EXPECT_THAT(trial.report.samples, IsEmpty());
  EXPECT_EQ(totals(database_).rows.at("builds"), 0);
}

TEST_F(Trials, TheNewestOfAVariantCountsAndAllAreKept) {
  const auto session = sample_.begin(database_);
  save_trial(database_, session, good_trial("A=1", 5e-3));
  save_trial(database_, session, good_trial("A=2", 5e-3));
  save_trial(database_, session, failed_trial("A=2", OutcomeKind::kUnstable, "spread of 30 %"));
  save_trial(database_, sample_.begin(database_), good_trial("A=1", 1e-3));
  const auto found = find_trials(database_, sample_.key());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.at("A=1").report.samples.at(0).time_s, 1e-3);
  EXPECT_EQ(found.at("A=1").report.samples.size(), 3U);
  EXPECT_EQ(found.at("A=2").report.outcome.kind, OutcomeKind::kUnstable);
  EXPECT_THAT(found.at("A=2").report.samples, IsEmpty());
  const auto counted = totals(database_);
  EXPECT_EQ(counted.rows.at("trials"), 4);
  EXPECT_EQ(counted.rows.at("variants"), 2);
  EXPECT_EQ(counted.rows.at("builds"), 2);
}

TEST_F(Trials, AreFoundUnderTheirWholeKeyOnly) {
  save_trial(database_, sample_.begin(database_), good_trial("A=1"));
  const std::vector<std::function<void(TestSession&)>> changes{
      [](TestSession& s) { s.device.power_limit_w = 500; },
      [](TestSession& s) { s.device.driver_version = "590.1"; },
      [](TestSession& s) { s.problem.m = 1024; },
      [](TestSession& s) { s.template_row.name = "other"; },
      [](TestSession& s) { s.template_row.content_hash = "0"; },
      [](TestSession& s) { s.session.recorded = true; },
      [](TestSession& s) { s.session.conditions_key = "burst rotated"; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    TestSession other;
    changes[i](other);
    EXPECT_THAT(find_trials(database_, other.key()), IsEmpty()) << i;
    save_trial(database_, other.begin(database_), good_trial("A=" + std::to_string(i + 10)));
    EXPECT_EQ(find_trials(database_, other.key()).size(), 1U) << i;
  }
  EXPECT_EQ(find_trials(database_, sample_.key()).size(), 1U);
}

TEST_F(Trials, SurviveOtherDriversOfTheSameBranchAndChangedDeviceFacts) {
  save_trial(database_, sample_.begin(database_), good_trial("A=1"));
  sample_.device.driver_version = "580.99";
  sample_.device.memory_bytes -= 1 << 20;
  save_trial(database_, sample_.begin(database_), good_trial("A=2"));
  EXPECT_EQ(find_trials(database_, sample_.key()).size(), 2U);
}

TEST_F(Trials, OfASessionThatNeverFinishedAreFoundByTheNext) {
  const testing::ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  {
    auto first = Database::open(path, OpenMode::kReadWriteCreate);
    save_trial(first, sample_.begin(first), good_trial("A=1"));
  }
  auto second = Database::open(path, OpenMode::kReadWriteCreate);
  const auto session = sample_.begin(second);
  EXPECT_EQ(find_trials(second, sample_.key()).size(), 1U);
  EXPECT_FALSE(find_best(second, sample_.key()).has_value());
  BestRow best;
  best.variant_key = "A=1";
  finish_session(second, session, best);
  EXPECT_EQ(find_best(second, sample_.key()).value().variant_key, "A=1");
  const auto sessions = list_sessions(second);
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_NE(sessions[0].finished_at, "");
  EXPECT_EQ(sessions[1].finished_at, "");
}

TEST_F(Trials, ShareBuildsAndOutcomes) {
  const auto session = sample_.begin(database_);
  for (int i = 0; i < 5; ++i) {
    auto trial = failed_trial("A=" + std::to_string(i), OutcomeKind::kInvalid, "too much shared memory");
    trial.build = good_trial("shared").build;
    save_trial(database_, session, trial);
  }
  const auto counted = totals(database_);
  EXPECT_EQ(counted.rows.at("builds"), 1);
  EXPECT_EQ(counted.rows.at("outcomes"), 1);
  EXPECT_EQ(counted.outcomes, (std::map<std::string, std::int64_t>{{"invalid", 5}}));
}

TEST_F(Trials, OfNoSessionAreRefusedWhole) {
  EXPECT_THAT(error_of([&] { save_trial(database_, 42, good_trial("A=1")); }).what(), HasSubstr("no session 42"));
  EXPECT_EQ(totals(database_).rows.at("variants"), 0);
}

TEST_F(Trials, WithABuildWithoutHashAreRefusedWhole) {
  const auto session = sample_.begin(database_);
  auto trial = good_trial("A=1");
  trial.build->key_hash.clear();
  EXPECT_THAT(error_of([&] { save_trial(database_, session, trial); }).what(), HasSubstr("key_hash"));
  EXPECT_EQ(totals(database_).rows.at("variants"), 0);
}

/// Trials of one class on two boards, each with what a search on GPU-1 has of them.
class TrialsOfTwoBoards : public Trials {
 protected:
  void save(const std::string& board, const TrialRow& trial) {
    TestSession on_board = sample_;
    on_board.device.uuid = board;
    save_trial(database_, on_board.begin(database_), trial);
  }
  [[nodiscard]] TrialRow known() { return find_trials_for(database_, sample_.key(), "GPU-1").at("A=1"); }
};

TEST_F(TrialsOfTwoBoards, TheOwnTimesCount) {
  save("GPU-1", good_trial("A=1", 1e-3));
  save("GPU-2", good_trial("A=1", 2e-3));
  EXPECT_EQ(find_trials(database_, sample_.key()).at("A=1").device_uuid, "GPU-2");
  EXPECT_EQ(known().device_uuid, "GPU-1");
  EXPECT_EQ(known().report.samples.at(0).time_s, 1e-3);
}

TEST_F(TrialsOfTwoBoards, WhereThereAreNoneTheOthersCome) {
  save("GPU-2", good_trial("A=1", 2e-3));
  EXPECT_EQ(known().device_uuid, "GPU-2");
}

TEST_F(TrialsOfTwoBoards, AFailureCountsOnWhateverBoard) {
  save("GPU-1", good_trial("A=1"));
  save("GPU-2", failed_trial("A=1", OutcomeKind::kCrashed, "illegal address"));
  EXPECT_EQ(known().report.outcome.kind, OutcomeKind::kCrashed);
}

TEST_F(TrialsOfTwoBoards, AFailureThatAnotherBoardContradictsLaterIsNone) {
  save("GPU-1", failed_trial("A=1", OutcomeKind::kTimeout, "hung"));
  save("GPU-2", good_trial("A=1"));
  EXPECT_EQ(known().report.outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(known().device_uuid, "GPU-2");
}

TEST_F(TrialsOfTwoBoards, OfAnotherClassNothingCounts) {
  sample_.device.power_limit_w = 500;
  save("GPU-2", good_trial("A=1"));
  EXPECT_EQ(find_trials_for(database_, sample_.key(), "GPU-1").size(), 1U);
  EXPECT_THAT(find_trials_for(database_, TestSession().key(), "GPU-1"), IsEmpty());
}

}  // namespace
}  // namespace pgtune::db
