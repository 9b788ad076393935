// SPDX-License-Identifier: MIT
// Sessions, baselines, answers and totals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/queries/queries.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::failed_trial;
using testing::good_trial;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using testing::TestSession;

class Answers : public ::testing::Test {
 protected:
  /// A finished session whose winner is `variant`.
  RowId answer(const TestSession& sample, const std::string& variant, double time_s = 1e-3) {
    const auto session = sample.begin(database_);
    save_trial(database_, session, good_trial(variant));
    finish(session, variant, time_s);
    return session;
  }
  /// A finished bench of `variant`.
  void bench(TestSession sample, const std::string& variant) {
    sample.session.kind = "bench";
    const auto session = sample.begin(database_);
    save_trial(database_, session, failed_trial(variant, OutcomeKind::kCrashed, "signal 11"));
    finish(session, variant, 1e-3);
  }
  void finish(RowId session, const std::string& variant, double time_s) {
    BestRow best;
    best.variant_key = variant;
    best.time_s = time_s;
    best.tflops = 40;
    best.ratio = 0.95;
    best.ratio_low = 0.94;
    best.ratio_high = 0.96;
    best.baseline_first_s = 2e-3;
    best.baseline_best_s = 1.9e-3;
    best.complete = true;
    best.answer_json = R"({"schema":1})";
    finish_session(database_, session, best);
  }
  static TestSession shaped(std::int64_t m, std::int64_t n, std::int64_t k) {
    TestSession sample;
    sample.problem = testing::shaped(m, n, k);
    return sample;
  }
  std::vector<std::string> winners(const BestFilter& filter) {
    std::vector<std::string> keys;
    for (const auto& row : list_best(database_, filter)) {
      keys.push_back(row.variant_key);
    }
    return keys;
  }

  Database database_ = Database::open_memory();
  TestSession sample_;
};

TEST_F(Answers, BestComesBackWithItsSurroundings) {
  const auto session = answer(sample_, "A=1", 1.5e-3);
  const auto best = find_best(database_, sample_.key());
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->session, session);
  EXPECT_EQ(best->device_uuid, sample_.device.uuid);
  EXPECT_EQ(best->device_name, "H200");
  EXPECT_EQ(best->architecture, "sm_90a");
  EXPECT_EQ(best->device_json, nlohmann::json(sample_.device).dump());
  EXPECT_EQ(best->problem_key, sample_.problem.key());
  EXPECT_EQ(best->problem_json, nlohmann::json(sample_.problem).dump());
  EXPECT_EQ(best->template_name, "sgemm_simt");
  EXPECT_EQ(best->template_hash, "c0ffee");
  EXPECT_FALSE(best->recorded);
  EXPECT_EQ(best->driver_branch, "580");
  EXPECT_EQ(best->conditions_key, "sustained rotated");
  EXPECT_THAT(best->finished_at, MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_EQ(best->variant_key, "A=1");
  EXPECT_EQ(best->parameters_json, R"({"key":"A=1"})");
  EXPECT_EQ(best->time_s, 1.5e-3);
  EXPECT_EQ(best->tflops, 40);
  EXPECT_EQ(best->ratio, 0.95);
  EXPECT_EQ(best->ratio_low, 0.94);
  EXPECT_EQ(best->ratio_high, 0.96);
  EXPECT_EQ(best->baseline_first_s, 2e-3);
  EXPECT_EQ(best->baseline_best_s, 1.9e-3);
  EXPECT_TRUE(best->complete);
  EXPECT_EQ(best->answer_json, R"({"schema":1})");
}

TEST_F(Answers, TheNewestWinsAndSessionsWithoutBestDoNotHideIt) {
  answer(sample_, "A=1");
  answer(sample_, "A=2");
  const auto empty = sample_.begin(database_);
  finish_session(database_, empty, std::nullopt);
  static_cast<void>(sample_.begin(database_));
  EXPECT_EQ(find_best(database_, sample_.key()).value().variant_key, "A=2");
  EXPECT_THAT(winners({}), ElementsAre("A=2"));
  EXPECT_EQ(totals(database_).rows.at("best"), 2);
}

TEST_F(Answers, AreFoundUnderTheirWholeKeyOnly) {
  answer(sample_, "A=1");
  auto key = sample_.key();
  key.device_class = "H200, driver 590";
  EXPECT_FALSE(find_best(database_, key).has_value());
  key = sample_.key();
  key.recorded = true;
  EXPECT_FALSE(find_best(database_, key).has_value());
  key = sample_.key();
  key.template_hash = "changed";
  EXPECT_FALSE(find_best(database_, key).has_value());
  key = sample_.key();
  key.conditions_key = "burst rotated";
  EXPECT_FALSE(find_best(database_, key).has_value());
}

TEST_F(Answers, OfBenchesNeverReplaceThoseOfSearches) {
  answer(sample_, "A=1");
  bench(sample_, "A=2");
  bench(sample_, "A=1");
  EXPECT_EQ(find_best(database_, sample_.key()).value().variant_key, "A=1");
  EXPECT_THAT(winners({}), ElementsAre("A=1"));
  EXPECT_THAT(winners({.kind = "bench"}), ElementsAre("A=1"));
  std::vector<std::string> history;
  for (const auto& row : list_answers(database_, sample_.key())) {
    history.push_back(row.variant_key);
  }
  EXPECT_THAT(history, ElementsAre("A=1", "A=2", "A=1"));
  const auto trials = find_trials(database_, sample_.key());
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials.at("A=1").report.outcome.kind, OutcomeKind::kOk);
  auto burst = sample_.key();
  burst.conditions_key = "burst rotated";
  EXPECT_THAT(list_answers(database_, burst), IsEmpty());
  EXPECT_THAT(error_of([&] {
                sample_.session.kind = "other";
                static_cast<void>(sample_.begin(database_));
              }).what(),
              HasSubstr("CHECK"));
}

TEST_F(Answers, AreListedByShape) {
  answer(shaped(1024, 64, 64), "A=4");
  answer(shaped(512, 512, 512), "A=2");
  answer(shaped(512, 512, 1024), "A=3");
  answer(shaped(64, 4096, 4096), "A=1");
  EXPECT_THAT(winners({}), ElementsAre("A=1", "A=2", "A=3", "A=4"));
}

TEST_F(Answers, AreListedOncePerClassTemplateSourceAndConditionsNewestFirst) {
  answer(sample_, "A=1");
  auto other_limit = sample_;
  other_limit.device.power_limit_w = 500;
  answer(other_limit, "A=2");
  auto other_template = sample_;
  other_template.template_row.content_hash = "beef";
  answer(other_template, "A=3");
  auto recorded = sample_;
  recorded.session.recorded = true;
  answer(recorded, "A=4");
  auto other_driver = sample_;
  other_driver.device.driver_version = "590.1";
  answer(other_driver, "A=5");
  auto other_conditions = sample_;
  other_conditions.session.conditions_key = "burst rotated";
  answer(other_conditions, "A=6");
  EXPECT_THAT(winners({}), ElementsAre("A=6", "A=5", "A=4", "A=3", "A=2"));
  EXPECT_THAT(winners({.conditions_key = "burst rotated"}), ElementsAre("A=6"));
  EXPECT_THAT(winners({.device_class = sample_.key().device_class, .conditions_key = "sustained rotated"}),
              ElementsAre("A=4", "A=3", "A=1"));
  EXPECT_THAT(winners({.device_class = other_limit.key().device_class}), ElementsAre("A=2"));
  EXPECT_THAT(winners({.template_hash = "beef"}), ElementsAre("A=3"));
  EXPECT_THAT(winners({.recorded = true}), ElementsAre("A=4"));
  EXPECT_THAT(winners({.template_name = "sgemm_simt", .recorded = false}), ElementsAre("A=6", "A=5", "A=3", "A=2"));
  EXPECT_THAT(winners({.problem_key = "none"}), IsEmpty());
}

TEST_F(Answers, OfOneBoardCountForItsClass) {
  auto other_board = sample_;
  other_board.device.uuid = "GPU-2";
  answer(sample_, "A=1");
  answer(other_board, "A=2");
  EXPECT_EQ(other_board.key().device_class, sample_.key().device_class);
  const auto newest = find_best(database_, sample_.key()).value();
  EXPECT_EQ(newest.variant_key, "A=2");
  EXPECT_EQ(newest.device_uuid, "GPU-2");
  EXPECT_EQ(newest.device_class, sample_.key().device_class);
  auto own = sample_.key();
  own.only_board = "GPU-1a2b";
  EXPECT_EQ(find_best(database_, own).value().variant_key, "A=1");
  own.only_board = "GPU-3";
  EXPECT_FALSE(find_best(database_, own).has_value());
  EXPECT_THAT(winners({}), ElementsAre("A=2"));
  EXPECT_THAT(winners({.device_uuid = "GPU-1a2b"}), ElementsAre("A=1"));
  EXPECT_THAT(winners({.each_board = true}), ElementsAre("A=2", "A=1"));
}

TEST_F(Answers, OfAnUnknownPowerLimitCountForTheirBoardAlone) {
  auto unknown = sample_, other_board = sample_;
  unknown.device.power_limit_w = other_board.device.power_limit_w = 0;
  other_board.device.uuid = "GPU-2";
  answer(unknown, "A=1");
  EXPECT_TRUE(find_best(database_, unknown.key()).has_value());
  EXPECT_FALSE(find_best(database_, other_board.key()).has_value());
  EXPECT_FALSE(find_best(database_, sample_.key()).has_value());
}

TEST_F(Answers, OfABenchOnAnotherBoardAreNotThisOnes) {
  auto other_board = sample_;
  other_board.device.uuid = "GPU-2";
  answer(sample_, "A=1");
  bench(other_board, "A=1");
  EXPECT_EQ(list_answers(database_, sample_.key()).size(), 2U);
  EXPECT_EQ(list_answers(database_, key_of(find_best(database_, sample_.key()).value())).size(), 1U);
}

TEST_F(Answers, NeedATriedVariant) {
  const auto session = sample_.begin(database_);
  BestRow best;
  best.variant_key = "A=9";
  EXPECT_THAT(error_of([&] { finish_session(database_, session, best); }).what(), HasSubstr("no trial of variant A=9"));
  EXPECT_EQ(list_sessions(database_).at(0).finished_at, "");
  EXPECT_THAT(error_of([&] { finish_session(database_, 77, std::nullopt); }).what(), HasSubstr("no session 77"));
}

TEST_F(Answers, SessionsAreListedNewestFirst) {
  const auto first = sample_.begin(database_);
  const auto second = sample_.begin(database_);
  finish_session(database_, first, std::nullopt);
  const auto sessions = list_sessions(database_);
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].id, second);
  EXPECT_EQ(sessions[0].finished_at, "");
  EXPECT_EQ(sessions[1].id, first);
  EXPECT_NE(sessions[1].finished_at, "");
  EXPECT_EQ(sessions[1].seed, 0xfedcba9876543210U);
  EXPECT_EQ(sessions[1].command_line, sample_.session.command_line);
  EXPECT_EQ(sessions[1].device_uuid, sample_.device.uuid);
  EXPECT_EQ(sessions[1].problem_key, sample_.problem.key());
  EXPECT_EQ(sessions[1].template_name, "sgemm_simt");
  EXPECT_EQ(sessions[1].template_hash, "c0ffee");
  EXPECT_EQ(sessions[1].driver_branch, "580");
  EXPECT_FALSE(sessions[1].recorded);
  EXPECT_EQ(sessions[1].kind, "search");
  EXPECT_EQ(sessions[1].conditions_key, "sustained rotated");
  EXPECT_EQ(sessions[1].started_at.size(), 20U);
  EXPECT_EQ(totals(database_).rows.at("devices"), 1);
  EXPECT_EQ(totals(database_).rows.at("environments"), 1);
  EXPECT_EQ(totals(database_).rows.at("conditions"), 1);
}

TEST_F(Answers, DevicesAreDescribedAsLastSeen) {
  const DeviceInfo original = sample_.device;
  EXPECT_FALSE(find_device(database_, original.uuid).has_value());
  static_cast<void>(sample_.begin(database_));
  sample_.device.power_limit_w = 600;
  static_cast<void>(sample_.begin(database_));
  EXPECT_EQ(find_device(database_, original.uuid), sample_.device);
  sample_.device = original;
  static_cast<void>(sample_.begin(database_));
  sample_.device.uuid = "GPU-0";
  static_cast<void>(sample_.begin(database_));
  EXPECT_EQ(find_device(database_, original.uuid), original);
  EXPECT_EQ(find_device(database_, "GPU-0"), sample_.device);
}

TEST_F(Answers, BaselinesBelongToASession) {
  const auto session = sample_.begin(database_);
  EXPECT_FALSE(find_baseline(database_, session).has_value());
  save_baseline(database_, session, testing::baseline("cuBLASLt 13.0"));
  BaselineReport second = testing::baseline("cuBLASLt 13.0.2");
  second.algorithms = {{.rank = 1, .description = "tile 128x128", .workspace_bytes = 9, .time_s = 1e-3}};
  save_baseline(database_, session, second);
  EXPECT_EQ(find_baseline(database_, session), second);
  EXPECT_THAT(error_of([&] { save_baseline(database_, 77, second); }).what(), HasSubstr("no session 77"));
}

TEST_F(Answers, ProblemsAreFoundByKey) {
  sample_.problem.epilogue.bias = true;
  static_cast<void>(sample_.begin(database_));
  EXPECT_EQ(find_problem(database_, sample_.problem.key()), sample_.problem);
  EXPECT_EQ(query_text(database_, "SELECT m || ' ' || n || ' ' || k || ' ' || batch || dtype || layout FROM problems"),
            "512 512 512 1f32nn");
  EXPECT_FALSE(find_problem(database_, "none").has_value());
}

TEST_F(Answers, TotalsCountTheNewestTrialOfEachVariantUnderEachKey) {
  const auto session = sample_.begin(database_);
  save_trial(database_, session, failed_trial("A=1", OutcomeKind::kTimeout, "5 s"));
  save_trial(database_, session, good_trial("A=1"));
  save_trial(database_, session, failed_trial("A=2", OutcomeKind::kCrashed, "signal 11"));
  save_trial(database_, shaped(64, 64, 64).begin(database_), good_trial("A=1"));
  auto burst = sample_;
  burst.session.conditions_key = "burst rotated";
  save_trial(database_, burst.begin(database_), good_trial("A=1"));
  const auto counted = totals(database_);
  EXPECT_EQ(counted.outcomes, (std::map<std::string, std::int64_t>{{"crashed", 1}, {"ok", 3}}));
  EXPECT_EQ(counted.rows.at("sessions"), 3);
  EXPECT_EQ(counted.rows.at("trials"), 5);
  EXPECT_EQ(counted.rows.at("problems"), 2);
  EXPECT_EQ(counted.rows.at("samples"), 9);
  EXPECT_EQ(counted.rows.at("round_samples"), 0);
}

}  // namespace
}  // namespace pgtune::db
