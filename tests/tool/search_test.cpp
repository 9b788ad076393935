// SPDX-License-Identifier: MIT
// Whole searches of the real program on the fake worker.
#include <csignal>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class SearchTest : public CliTest {
 protected:
  Launch slow_search() {
    launch_.environment["PGTUNE_FAKE"] = "trial||slow";
    launch_.arguments = search_arguments(path("tiny.json"), {});
    return launch_;
  }
};

TEST_F(SearchTest, PrintsTheBestAgainstTheBaseline) {
  const Finished result = search();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("Fake GPU"), HasSubstr("observed, not locked")));
  EXPECT_THAT(result.out, AllOf(HasSubstr("256x256x256 f32 nn on Fake GPU\n"), HasSubstr("x cuBLASLt's best ("),
                                HasSubstr(" TFLOP/s"), HasSubstr("\nwinner    tiny; "), HasSubstr("\ncuBLASLt  best "),
                                HasSubstr(", first "), HasSubstr("\ntried     10 of 10 variants\n"),
                                HasSubstr("\ndetails   pgtune show --shape 256x256x256")));
  EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 15);
  expect_80_columns(result.out);
  const Finished verbose = search({"-v"});
  EXPECT_THAT(verbose.err, HasSubstr("database  " + database()));
  EXPECT_THAT(verbose.out, AllOf(::testing::StartsWith(result.out), HasSubstr("x cuBLASLt best"),
                                 HasSubstr("12 points in the space, 10 to try here")));
}

TEST_F(SearchTest, PrintedCommandsRepeatTheDatabaseThatWasGiven) {
  EXPECT_THAT(search({"--db", path("own.db")}).out,
              AllOf(HasSubstr("details   pgtune show --shape 256x256x256 --db " + path("own.db")),
                    HasSubstr("use it    pgtune export header -o best.hpp --template FILE.json --db " + path("own.db") +
                              "\n")));
  EXPECT_THAT(search({"--db", path("it's mine.db")}).out,
              HasSubstr("-o best.hpp --template FILE.json --db '" + path("it'\\''s mine.db") + "'\n"));
  EXPECT_THAT(search().out, HasSubstr("export header -o best.hpp --template FILE.json\n"));
}

TEST_F(SearchTest, NotesThatHaveNoRoomBesideTheirCommandAreBelowIt) {
  const std::string long_name = path(std::string(60, 'x') + ".db");
  EXPECT_THAT(search().out,
              ::testing::ContainsRegex("\ndetails   pgtune show --shape 256x256x256  \\([0-9]+ notes?\\)\n"));
  EXPECT_THAT(search({"--db", long_name}).out, ::testing::ContainsRegex("\\.db\n          \\([0-9]+ notes?\\)\n"));
}

TEST_F(SearchTest, JsonHasTheAgreedFields) {
  const Finished result = search({"--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json object = json::parse(result.out);
  EXPECT_EQ(object.at("schema"), 2);
  EXPECT_EQ(object.at("problem").at("m"), 256);
  EXPECT_EQ(object.at("device").at("name"), "Fake GPU");
  EXPECT_EQ(object.at("source"), "gpu");
  EXPECT_EQ(object.at("other_versions"), json::array());
  const json& best = object.at("best");
  EXPECT_EQ(best.at("template"), "tiny");
  EXPECT_TRUE(best.at("parameters").contains("COPY"));
  EXPECT_GT(best.at("time_s").get<double>(), 0);
  EXPECT_GT(best.at("tflops").get<double>(), 0);
  const double ratio = best.at("ratio_to_baseline");
  EXPECT_LE(best.at("ratio_interval").at(0).get<double>(), ratio);
  EXPECT_GE(best.at("ratio_interval").at(1).get<double>(), ratio);
  EXPECT_GE(object.at("baseline").at("first").at("time_s").get<double>(),
            object.at("baseline").at("best").at("time_s").get<double>());
  EXPECT_EQ(object.at("counts").at("space"), 12);
  EXPECT_EQ(object.at("counts").at("valid"), 10);
  EXPECT_EQ(object.at("counts").at("compiled"), 10);
  EXPECT_EQ(object.at("counts").at("measured"), 10);
  EXPECT_TRUE(object.at("counts").at("failed").is_object());
  EXPECT_TRUE(object.at("elapsed_s").is_number());
}

TEST_F(SearchTest, AProblemAlreadyTunedStartsNoBuildAndNoTrial) {
  ASSERT_EQ(search().exit_code, 0);
  std::filesystem::remove(path("requests.log"));
  launch_.environment["PGTUNE_FAKE"] = "hello||wrong_version";  // a worker that is started is an error
  const Finished again = search({"--json"});
  launch_.environment.erase("PGTUNE_FAKE");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("Answered from the database"));
  EXPECT_EQ(json::parse(again.out).at("from_database"), true);
  EXPECT_FALSE(std::filesystem::exists(path("requests.log")));
  const Finished forced = search({"--force"});
  EXPECT_EQ(forced.exit_code, 0);
  EXPECT_EQ(requests("trial"), 10);
}

TEST_F(SearchTest, DryRunCountsWhatIsKnown) {
  ASSERT_EQ(search().exit_code, 0);
  const Finished text = search({"--dry-run"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("10  of them known"), HasSubstr(" 0  to build"), HasSubstr("--force")));
  const json object = json::parse(search({"--dry-run", "--force", "--json"}).out);
  EXPECT_EQ(object.at("counts").at("known"), 10);
  EXPECT_EQ(object.at("counts").at("to_build"), 10);
  EXPECT_THAT(search({"--dry-run", "--force", "--variants", "4"}).out, HasSubstr(" 4  to build"));
}

TEST_F(SearchTest, FailuresAreCountedAndShownByReason) {
  launch_.environment["PGTUNE_FAKE"] =
      "build|BM=32,BN=32,|fail;trial|BM=64,BN=64,|wrong;trial|BM=32,BN=128,COPY=ldg|segv";
  const Finished result = search({"-v"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("5 of 10 variants, and 5 that failed\n"), HasSubstr("2 compile_failed"),
                    HasSubstr("fake: does not compile"), HasSubstr("2 wrong_result"), HasSubstr("1 crashed")));
}

TEST_F(SearchTest, NothingValidIsExitCodeOne) {
  launch_.environment["PGTUNE_FAKE"] = "trial||wrong";
  const Finished result = search({"--json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const json object = json::parse(result.out);
  EXPECT_TRUE(object.at("best").is_null());
  EXPECT_EQ(object.at("counts").at("failed").at("wrong_result"), 10);
}

TEST_F(SearchTest, ReachingTheBudgetIsNoFailure) {
  const Finished result = search({"--variants", "3", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("at the end of the budget, as asked"));
  const json object = json::parse(result.out);
  EXPECT_EQ(object.at("complete"), false);
  EXPECT_FALSE(object.at("best").is_null());
  EXPECT_EQ(requests("trial"), 3);
}

TEST_F(SearchTest, ATotalTimeIsSharedOutByWeights) {
  const auto completes = [&](const char* first, const char* second) {
    write("shapes.txt", std::string("64x64x64 weight ") + first + "\n128x64x64 weight " + second + "\n");
    const Finished result = pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt"),
                                    "--total", "60s", "--strategy", "guided", "--force", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("1m00s by weight"));
    const json results = json::parse(result.out).at("results");
    return std::pair<bool, bool>{results.at(0).at("complete"), results.at(1).at("complete")};
  };
  EXPECT_EQ(completes("1e9", "1"), (std::pair{true, false}));
  EXPECT_EQ(completes("1", "1e9"), (std::pair{false, true}));
}

TEST_F(SearchTest, SeveralShapesGoOnAfterAFailureAndEndWithTheWorst) {
  const Finished result = pgtune({"search", "--template", path("tiny.json"), "--shape", "64x64x64", "--shape",
                                  "64x64x4", "--shape", "128x64x64", "--shape", "64x64x64", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("64x64x4 f32 nn: "));
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("schema"), 2);
  ASSERT_EQ(document.at("results").size(), 3U);  // a shape given twice is searched once
  EXPECT_EQ(document.at("results").at(0).at("problem").at("m"), 64);
  EXPECT_THAT(document.at("results").at(1).at("error").get<std::string>(), HasSubstr("K is too short"));
  EXPECT_FALSE(document.at("results").at(2).at("best").is_null());
}

TEST_F(SearchTest, AListHasALineForEachAndASummary) {
  const std::vector<std::string> list{"search",   "--template", path("tiny.json"), "--shape",
                                      "64x64x64", "--shape",    "128x64x64"};
  const Finished result = pgtune(list);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 5) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("\n64x64x64 f32 nn "), HasSubstr("\n128x64x64 f32 nn "),
                                HasSubstr("\n2 problems: "), HasSubstr("geometric mean ")));
  expect_80_columns(result.out);
}

TEST_F(SearchTest, FirstInterruptEndsWithTheBestSoFar) {
  const std::map<int, int> codes{{SIGINT, 130}, {SIGTERM, 143}};
  for (const auto& [number, code] : codes) {
    std::filesystem::remove(path("requests.log"));
    std::filesystem::remove_all(path(".local"));
    Process process(slow_search());
    await([&] { return requests("trial") >= 4; });
    process.signal(number);
    const Finished result = process.wait();
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.out, HasSubstr("cuBLASLt"));
    EXPECT_THAT(result.err, AllOf(HasSubstr("Stopped early by a signal"), HasSubstr("goes on from here")));
    EXPECT_LT(requests("trial"), 10);
  }
}

TEST_F(SearchTest, SecondInterruptLeavesAtOnce) {
  launch_.environment["PGTUNE_FAKE"] = "trial||hang";
  launch_.arguments = search_arguments(path("tiny.json"), {});
  Process process(launch_);
  await([&] { return requests("trial") >= 1; });
  // What comes soon after the first is the same request; one of those that come later ends it.
  await([&] {
    process.signal(SIGINT);
    return process.has_ended();
  });
  EXPECT_EQ(process.wait().exit_code, 130);
}

TEST_F(SearchTest, TwoSignalsAtOnceAsTimeoutSendsThemAreOneRequest) {
  Process process(slow_search());
  await([&] { return requests("trial") >= 4; });
  process.signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // two pending signals of one kind are one
  process.signal(SIGTERM);
  const Finished result = process.wait();
  EXPECT_EQ(result.exit_code, 143) << result.err;
  EXPECT_THAT(result.err, HasSubstr("goes on from here"));
}

TEST_F(SearchTest, QuietPrintsResultsOnly) {
  const Finished result = search({"--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("\ncuBLASLt  best "));
}

TEST_F(SearchTest, PipedProgressIsPlainLines) {
  const Finished result = search();
  EXPECT_THAT(result.err, AllOf(Not(HasSubstr("\r")), Not(HasSubstr("\033")), HasSubstr("256x256x256: preparing")));
}

TEST_F(SearchTest, ATerminalGetsALiveLineOfItsWidthAndLosesItAtTheEnd) {
  if (const std::string reason = why_no_terminal(); !reason.empty()) GTEST_SKIP() << reason;
  launch_.terminal = true;
  launch_.environment["TERM"] = "xterm";
  const Finished result = search();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("\r256x256x256: "));
  std::istringstream redraws(result.err);
  for (std::string drawn; std::getline(redraws, drawn, '\r');) {
    if (drawn.starts_with("256x256x256: ")) {
      EXPECT_LT(drawn.find('\033'), 80U) << drawn;
    }
  }
  EXPECT_THAT(result.err, HasSubstr("\r\033[K"));
}

TEST_F(SearchTest, ColorOnRequestOnly) {
  const std::string bold = "\033[1m";
  EXPECT_THAT(search().out, Not(HasSubstr("\033")));
  EXPECT_THAT(search({"--color", "always"}).out, HasSubstr(bold));
}

}  // namespace
}  // namespace pgtune::tool::test
