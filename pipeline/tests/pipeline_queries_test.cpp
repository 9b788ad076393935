// SPDX-License-Identifier: MIT
// Searches for host pipelines: saved, found by what was searched, of this board first, merged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "db/sqlite/statement.hpp"
#include "db/upkeep/merge.hpp"
#include "pipeline/program/pipeline_queries.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::TestSession;

constexpr const char* kSearched = "1 A,D cut any memory any";

pipeline::Candidate streams(int count) { return {.chunk = 128, .streams = count, .buffers = count}; }

pipeline::RunSample sample(Stage stage, int round, double host_s) { return {stage, round, 1, 3, host_s, 0.9 * host_s}; }

pipeline::RunSample settled(double host_s) {
  pipeline::RunSample made = sample(Stage::kFinal, 1, host_s);
  made.sm_clock_hz = 1.6e9;
  made.lead_in_s = 0.5;
  return made;
}

pipeline::TrialResult right(double host_s) {
  return {{}, CheckReport{0.25, 1e-3}, {sample(Stage::kScreen, 0, host_s), sample(Stage::kScreen, 0, 2 * host_s)}};
}

PipelineAnswerRow answer(double time_s, bool complete = true) {
  PipelineAnswerRow row;
  row.time_s = time_s;
  row.bound_s = 0.5 * time_s;
  row.complete = complete;
  row.answer_json = "{}";
  return row;
}

class Pipelines : public ::testing::Test {
 protected:
  Pipelines() {
    session_.template_row = {kPipelineKind, kSearched};
    session_.session.kind = kPipelineKind;
  }
  [[nodiscard]] PipelineKey key() const {
    return {device_class(session_.device).text(), session_.problem.key(), kSearched, session_.session.conditions_key};
  }

  Database database_ = Database::open_memory();
  TestSession session_;
};

TEST_F(Pipelines, TrialsComeBackWithTheirSamplesOfScreening) {
  const RowId session = session_.begin(database_);
  save_pipeline_trial(database_, session, {streams(2), right(1)});
  save_pipeline_trial(database_, session, {streams(3), {{OutcomeKind::kCrashed, "it fell over"}, {}, {}}});
  save_pipeline_sample(database_, session, streams(2).key(), settled(4));
  const auto trials = find_pipeline_trials(database_, key());
  ASSERT_EQ(trials.size(), 2U);
  const PipelineTrialRow& two = trials.at(streams(2).key());
  EXPECT_EQ(two.candidate, streams(2));
  EXPECT_EQ(two.result, right(1));
  EXPECT_EQ(trials.at(streams(3).key()).result.outcome, (Outcome{OutcomeKind::kCrashed, "it fell over"}));
}

TEST_F(Pipelines, EveryWordOfACandidateComesBack) {
  const RowId session = session_.begin(database_);
  std::vector<pipeline::Candidate> saved;
  for (const auto& [submission, word] : enum_table(pipeline::Submission{})) {
    saved.push_back({.chunk = 128, .use = pipeline::StreamUse::kLanes, .buffers = 4, .submission = submission});
    saved.push_back(saved.back());
    saved.back().host_node = 1;
  }
  for (const pipeline::Candidate& candidate : saved) save_pipeline_trial(database_, session, {candidate, right(1)});
  const auto trials = find_pipeline_trials(database_, key());
  EXPECT_EQ(trials.size(), 8U);
  for (const pipeline::Candidate& candidate : saved) EXPECT_EQ(trials.at(candidate.key()).candidate, candidate);
}

TEST_F(Pipelines, TheNewestTrialCounts) {
  save_pipeline_trial(database_, session_.begin(database_), {streams(2), right(1)});
  const RowId later = session_.begin(database_);
  save_pipeline_trial(database_, later, {streams(2), right(2)});
  EXPECT_EQ(find_pipeline_trials(database_, key()).at(streams(2).key()).result, right(2));
  save_pipeline_trial(database_, later, {streams(2), {{OutcomeKind::kWrongResult, "checked again"}, {}, {}}});
  EXPECT_EQ(find_pipeline_trials(database_, key()).at(streams(2).key()).result.outcome.kind, OutcomeKind::kWrongResult);
}

TEST_F(Pipelines, AnAnswerIsOfWhatWasSearchedOnItsClassOfGpus) {
  EXPECT_FALSE(find_pipeline_answer(database_, key()));
  finish_pipeline(database_, session_.begin(database_), answer(1));
  finish_pipeline(database_, session_.begin(database_), answer(2));
  finish_pipeline(database_, session_.begin(database_), answer(3, false));
  finish_pipeline(database_, session_.begin(database_), std::nullopt);
  EXPECT_EQ(find_pipeline_answer(database_, key()).value().answer.time_s, 2);  // the newest that is complete
  PipelineKey other = key();
  other.searched = "1 B cut any memory any";
  EXPECT_FALSE(find_pipeline_answer(database_, other));
  other = key();
  other.device_class = "another";
  EXPECT_FALSE(find_pipeline_answer(database_, other));
  other = key();
  other.only_board = "GPU-ffff";
  EXPECT_FALSE(find_pipeline_answer(database_, other));
}

TEST_F(Pipelines, AnExportTakesTheNewestWhateverKernelsItHad) {
  session_.template_row.content_hash = std::string(kSearched) + " kernel 512x512x512 c0ffee";
  finish_pipeline(database_, session_.begin(database_), answer(1));
  session_.template_row.content_hash = std::string(kSearched) + "thing";
  finish_pipeline(database_, session_.begin(database_), answer(2));
  const auto found = find_recorded_pipeline(database_, session_.problem.key(), kSearched);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->answer.time_s, 1);
  EXPECT_EQ(found->device, session_.device);
  EXPECT_EQ(found->searched, std::string(kSearched) + " kernel 512x512x512 c0ffee");
}

TEST_F(Pipelines, AListHasTheNewestOfEachProblemAndSpace) {
  finish_pipeline(database_, session_.begin(database_), answer(1));
  finish_pipeline(database_, session_.begin(database_), answer(2));
  finish_pipeline(database_, session_.begin(database_), answer(3, false));
  session_.template_row.content_hash = "1 B cut any memory any";
  finish_pipeline(database_, session_.begin(database_), answer(4, false));
  const auto listed = list_pipelines(database_);
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].answer.time_s, 2);
  EXPECT_EQ(listed[1].answer.time_s, 4);
  EXPECT_EQ(listed[1].searched, "1 B cut any memory any");
}

TEST_F(Pipelines, SurviveAMergeOnce) {
  const testing::ScratchFolder folder;
  {
    Database first = Database::open(folder / "a.db", OpenMode::kReadWriteCreate);
    const RowId session = session_.begin(first);
    save_pipeline_trial(first, session, {streams(2), right(1)});
    save_pipeline_sample(first, session, streams(2).key(), sample(Stage::kFinal, 1, 4));
    finish_pipeline(first, session, answer(1));
  }
  std::filesystem::copy_file(folder / "a.db", folder / "b.db");
  static_cast<void>(merge({folder / "a.db", folder / "b.db"}, folder / "c.db", {}));
  const Database merged = Database::open(folder / "c.db", OpenMode::kReadOnly);
  EXPECT_EQ(query_integer(merged, "SELECT count(*) FROM pipeline_trials"), 1);
  EXPECT_EQ(query_integer(merged, "SELECT count(*) FROM pipeline_samples"), 3);
  const auto found = find_pipeline_answer(merged, key());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->answer.time_s, 1);
}

TEST_F(Pipelines, WhatNoPgtuneWritesIsAnError) {
  const RowId session = session_.begin(database_);
  save_pipeline_trial(database_, session, {streams(2), right(1)});
  execute(database_, "UPDATE pipeline_samples SET runs = 0");
  EXPECT_THAT(error_of([&] { static_cast<void>(find_pipeline_trials(database_, key())); }).what(),
              HasSubstr("a sample of 0 runs"));
  execute(database_, "UPDATE pipeline_trials SET candidate_json = '[]'");
  EXPECT_THAT(error_of([&] { static_cast<void>(find_pipeline_trials(database_, key())); }).what(),
              HasSubstr("pipeline that cannot be read"));
  EXPECT_THAT(error_of([&] {
                save_pipeline_trial(database_, 77, {streams(2), right(1)});
              }).what(),
              HasSubstr("no session 77"));
  EXPECT_THAT(error_of([&] { execute(database_, "UPDATE sessions SET kind = 'x'"); }).what(), HasSubstr("CHECK"));
}

}  // namespace
}  // namespace pgtune::db
