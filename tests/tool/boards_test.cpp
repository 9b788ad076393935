// SPDX-License-Identifier: MIT
// Several boards of one class with one database: what one measured counts for the others, and they say so.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

constexpr const char* kA = "GPU-aaaaaaaa-0000-0000-0000-000000000000";
constexpr const char* kB = "GPU-bbbbbbbb-0000-0000-0000-000000000000";
constexpr const char* kClass = "Fake GPU, sm_90, 132 SMs, 80 GiB, 700 W, driver 580";

/// Four per cent as they are printed, give or take the noise of the simulated samples.
const std::string kFourPercent = "(3[.]9|4[.]0|4[.]1) %";

/// Board A has searched; what follows runs on B, which takes 4 % longer for everything.
class BoardsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    launch_.environment["PGTUNE_FAKE_UUID"] = kA;
    const Finished result = search({"--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    searched_ = json::parse(result.out);
    launch_.environment["PGTUNE_FAKE_UUID"] = kB;
    launch_.environment["PGTUNE_FAKE_SLOWDOWN"] = "1.04";
    std::filesystem::remove(path("requests.log"));
  }
  Finished bench(const std::vector<std::string>& more = {}) {
    return pgtune({"bench", "--template", path("tiny.json"), "--shape", "256x256x256"}, more);
  }
  json searched(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished result = search(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
  json searched_;
};

TEST_F(BoardsTest, ASearchOnAnotherBoardIsAnsweredAndSaysByWhich) {
  EXPECT_EQ(searched_.at("measured_on"), kA);
  EXPECT_EQ(searched_.at("this_board"), true);
  const json answered = searched();
  EXPECT_EQ(answered.at("from_database"), true);
  EXPECT_EQ(answered.at("measured_on"), kA);
  EXPECT_EQ(answered.at("this_board"), false);
  EXPECT_EQ(answered.at("device").at("uuid"), kB);
  EXPECT_EQ(answered.at("device_class"), kClass);
  EXPECT_EQ(answered.at("best").at("time_s"), searched_.at("best").at("time_s"));
  EXPECT_EQ(requests(""), 0) << "no worker is needed";
  const Finished text = search();
  EXPECT_THAT(text.out, AllOf(HasSubstr("\nboard     measured on " + std::string(kA)), HasSubstr("another GPU of")));
  EXPECT_THAT(text.err, AllOf(HasSubstr("Answered from the database ("), HasSubstr("by another GPU of this class"),
                              HasSubstr("--this-board measures on this one")));
  expect_80_columns(text.out);
}

TEST_F(BoardsTest, ThisBoardMeasuresHere) {
  const json measured = searched({"--this-board"});
  EXPECT_EQ(measured.at("from_database"), false);
  EXPECT_EQ(measured.at("measured_on"), kB);
  EXPECT_EQ(measured.at("this_board"), true);
  EXPECT_GT(measured.at("best").at("time_s").get<double>(), 1.03 * searched_.at("best").at("time_s").get<double>());
  EXPECT_EQ(measured.at("counts").at("measured"), searched_.at("counts").at("measured"));
  // From now on the board's own answer is the answer, and the other board has its own.
  EXPECT_EQ(searched().at("measured_on"), kB);
  EXPECT_EQ(searched({"--this-board"}).at("from_database"), true);
  launch_.environment["PGTUNE_FAKE_UUID"] = kA;
  EXPECT_EQ(searched().at("measured_on"), kA);
}

TEST_F(BoardsTest, ADryRunSaysWhoAnswers) {
  const json plan = searched({"--dry-run"});
  EXPECT_EQ(plan.at("answered_by"), kA);
  EXPECT_THAT(search({"--dry-run"}).out, HasSubstr("by another GPU of this class:\n  only --this-board"));
  EXPECT_EQ(searched({"--dry-run", "--this-board"}).at("answered_by"), nullptr);
}

TEST_F(BoardsTest, ABenchSaysWhetherTheOthersResultHeldAndHowFarBoardsDiffer) {
  const Finished text = bench();
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("held: "),
                    HasSubstr("\nboards    another GPU of this class was stored,\n          " + std::string(kA)),
                    HasSubstr("cuBLASLt's best"), ::testing::ContainsRegex("longer, #1 " + kFourPercent + " longer")));
  expect_80_columns(text.out);
  const json object = json::parse(bench({"--json"}).out);
  EXPECT_EQ(object.at("stored_on"), kA);
  EXPECT_EQ(object.at("this_board"), false);
  EXPECT_EQ(object.at("variants").at(0).at("held"), "held");
  EXPECT_NEAR(object.at("variants").at(0).at("time_to_stored").get<double>(), 1.04, 0.003);
  EXPECT_NEAR(object.at("baseline").at("best_time_to_stored").get<double>(), 1.04, 0.003);
}

TEST_F(BoardsTest, ABenchOfThisBoardAloneNeedsItsOwnResult) {
  const Finished nothing = bench({"--this-board"});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.err, AllOf(HasSubstr("nothing is stored for 256x256x256 f32 nn on GPU-bbbb"),
                                 HasSubstr("Without --this-board")));
  ASSERT_EQ(search({"--this-board"}).exit_code, 0);
  const Finished own = bench({"--this-board", "--json"});
  ASSERT_EQ(own.exit_code, 0) << own.err;
  EXPECT_EQ(json::parse(own.out).at("stored_on"), kB);
  EXPECT_THAT(bench().out, Not(HasSubstr("\nboards ")));
}

/// B has measured too, by a search that its owner asked for or by a bench.
class BoardsReportTest : public BoardsTest {
 protected:
  Finished report(const std::vector<std::string>& more = {}) { return pgtune({"report", "--boards"}, more); }
  json reported() {
    const Finished result = report({"--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
};

TEST_F(BoardsReportTest, ShowsWhatASearchAndABenchOnAnotherBoardMeasured) {
  ASSERT_EQ(bench().exit_code, 0);
  const json document = reported();
  ASSERT_EQ(document.at("results").size(), 1U);
  const json& row = document.at("results").at(0);
  EXPECT_EQ(row.at("device_class"), kClass);
  EXPECT_EQ(row.at("variant"), searched_.at("best").at("variant"));
  ASSERT_EQ(row.at("boards").size(), 2U);
  const json &a = row.at("boards").at(0), &b = row.at("boards").at(1);
  EXPECT_EQ(a.at("uuid"), kA);
  EXPECT_EQ(a.at("kind"), "search");
  EXPECT_EQ(a.at("time_s"), searched_.at("best").at("time_s"));
  EXPECT_EQ(b.at("uuid"), kB);
  EXPECT_EQ(b.at("kind"), "bench");
  EXPECT_EQ(b.at("same_variant"), true);
  EXPECT_NEAR(b.at("time_s").get<double>() / a.at("time_s").get<double>(), 1.04, 0.003);
  EXPECT_NEAR(b.at("ratio_to_baseline").get<double>(), a.at("ratio_to_baseline").get<double>(), 0.01);
  EXPECT_EQ(b.at("sm_clock_hz"), 1.7e9);
  ASSERT_EQ(document.at("differences").size(), 1U);
  const json& difference = document.at("differences").at(0);
  EXPECT_EQ(difference.at("board"), kB);
  EXPECT_EQ(difference.at("to"), kA);
  EXPECT_EQ(difference.at("problems"), 1);
  EXPECT_NEAR(difference.at("time_ratio").get<double>(), 1.04, 0.003);
  EXPECT_NEAR(difference.at("baseline_time_ratio").get<double>(), 1.04, 0.003);
}

TEST_F(BoardsReportTest, TextHasALineForEachBoardThatMeasuredAProblem) {
  ASSERT_EQ(search({"--this-board"}).exit_code, 0);
  const Finished text = report();
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("A  " + std::string(kA) + "\nB  " + kB + "\n"),
                    ::testing::ContainsRegex("\n256x256x256 +A +[0-9.]+ +[0-9.]+ +1700\n +B +[0-9.]+ +[+]" +
                                             kFourPercent + " "),
                    ::testing::ContainsRegex("B takes " + kFourPercent + " more time than A [(]median of 1 problem; "),
                    Not(HasSubstr("~")), Not(HasSubstr("one board only"))));
  expect_80_columns(text.out);
}

TEST_F(BoardsReportTest, WhatOneBoardAloneMeasuredIsCountedWithTheCommandThatComparesIt) {
  const Finished text = report();
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("\n1 of 1 problems was measured by one board only. "),
                    HasSubstr("\npgtune bench --shape 256x256x256 --template FILE.json\n"), Not(HasSubstr("x best"))));
}

TEST_F(BoardsReportTest, ABoardWithoutTheVariantShowsItsOwnBestAndIsNotCompared) {
  const auto second = searched_.at("ranking").at(1).at("variant").get<std::string>();
  ASSERT_EQ(bench({"--variant", second}).exit_code, 0);
  EXPECT_THAT(report().out,
              AllOf(HasSubstr("~"), HasSubstr("the board's own best"), Not(HasSubstr("more time than A"))));
  const json document = reported();
  EXPECT_EQ(document.at("results").at(0).at("boards").at(1).at("variant"), second);
  EXPECT_EQ(document.at("results").at(0).at("boards").at(1).at("same_variant"), false);
  EXPECT_EQ(document.at("differences"), json::array());
}

TEST_F(BoardsReportTest, CsvHasTheColumnsOfEachBoard) {
  ASSERT_EQ(bench().exit_code, 0);
  const Finished csv = report({"--csv"});
  EXPECT_THAT(csv.out, AllOf(HasSubstr(std::string(kA) + " time_s," + kA + " ratio_to_baseline," + kA + " sm_clock_hz"),
                             HasSubstr(std::string(kB) + " time_s"), HasSubstr("256x256x256 f32 nn")));
}

TEST_F(BoardsReportTest, AnotherPowerLimitIsAnotherTable) {
  launch_.environment["PGTUNE_FAKE_POWER_W"] = "500";
  ASSERT_EQ(search().exit_code, 0);
  const json document = reported();
  ASSERT_EQ(document.at("results").size(), 2U);
  EXPECT_EQ(document.at("differences"), json::array());
}

}  // namespace
}  // namespace pgtune::tool::test
