// SPDX-License-Identifier: MIT
// Searches and benches of the real program on several fake GPUs at once.
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

constexpr const char* kShapes = "256x256x256\n512x512x512\n1024x1024x1024\n256x512x256\n512x256x512\n1024x512x256\n";
const std::vector<std::string> kTitles{"256x256x256", "512x512x512", "1024x1024x1024",
                                       "256x512x256", "512x256x512", "1024x512x256"};

class FleetTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write("shapes.txt", kShapes);
    gpus(2);
  }
  void gpus(int count) { launch_.environment["PGTUNE_FAKE_GPUS"] = std::to_string(count); }
  void fault(const std::string& text) { launch_.environment["PGTUNE_FAKE"] = text; }
  [[nodiscard]] std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Finished search_all(const std::vector<std::string>& more = {"--device", "all"}) { return pgtune(arguments(more)); }
  /// The results of a search with --json, by the shape of the problem.
  static std::vector<json> results(const Finished& finished) {
    return json::parse(finished.out).at("results").get<std::vector<json>>();
  }
  static std::string shape_of(const json& result) {
    const json& problem = result.at("problem");
    return std::to_string(problem.at("m").get<int>()) + "x" + std::to_string(problem.at("n").get<int>()) + "x" +
           std::to_string(problem.at("k").get<int>());
  }
  static std::vector<std::string> shapes_of(const std::vector<json>& results) {
    std::vector<std::string> shapes;
    for (const json& result : results) shapes.push_back(shape_of(result));
    return shapes;
  }
  /// How many of the results each GPU measured, by the last digit of its UUID.
  static std::map<char, int> measured_by(const std::vector<json>& results) {
    std::map<char, int> counts;
    for (const json& result : results) ++counts[result.at("device").at("uuid").get<std::string>().back()];
    return counts;
  }
};

TEST_F(FleetTest, EveryGpuTakesItsShareAndTheResultsAreInTheOrderOfTheFile) {
  fault("trial||slow");
  const Finished finished = search_all({"--device", "all", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto found = results(finished);
  EXPECT_EQ(shapes_of(found), kTitles);
  const auto counts = measured_by(found);
  ASSERT_EQ(counts.size(), 2U);
  for (const auto& [gpu, count] : counts) EXPECT_GE(count, 2) << gpu;
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("GPU 0, sm_90a"), HasSubstr("GPU 1, sm_90a"), HasSubstr(" is over after ")));
  for (const json& result : found) EXPECT_EQ(result.at("counts").at("measured"), 10);
  EXPECT_EQ(json::parse(pgtune({"report", "--json"}).out).at("results").size(), 6U) << "all in one database";
  // Whichever GPU a problem goes to next time, it is answered.
  for (const json& result : results(search_all({"--device", "all", "--json"})))
    EXPECT_EQ(result.at("from_database"), true) << shape_of(result);
}

TEST_F(FleetTest, OneGpuAndSeveralFindTheSame) {
  const auto bests = [](const std::vector<json>& found) {
    std::vector<json> out;
    for (const json& result : found) out.push_back(result.at("best").at("parameters"));
    return out;
  };
  const auto alone = results(search_all({"--device", "0", "--json"}));
  const auto together = results(search_all({"--device", "all", "--json", "--db", path("other.db")}));
  EXPECT_EQ(bests(alone), bests(together));
}

TEST_F(FleetTest, ChosenGpusOnly) {
  gpus(3);
  fault("trial||slow");
  const Finished finished = search_all({"--device", "0,GPU-fa4efa4e-0000-0000-0000-000000000002", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto counts = measured_by(results(finished));
  EXPECT_EQ(counts.size(), 2U);
  EXPECT_FALSE(counts.contains('1'));
  const std::map<std::string, std::string> wrong{{"0,0", "names GPU 0 twice"},
                                                 {"0,7", "there is no GPU 7"},
                                                 {"0,recording", "unknown device '0,recording'"},
                                                 {"0,", "unknown device '0,'"},
                                                 {"some", "several of these after commas"}};
  for (const auto& [option, message] : wrong) {
    const Finished refused = search_all({"--device", option});
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_THAT(refused.err, HasSubstr(message));
  }
}

TEST_F(FleetTest, MigInstancesAreNamedByTheirUuids) {
  launch_.environment["PGTUNE_FAKE_MIG"] = "1";
  const Finished finished = search_all({"--device", "MIG-fa4efa4e-0000-0000-0000-000000000001", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(measured_by(results(finished)), (std::map<char, int>{{'1', 6}}));
  EXPECT_TRUE(std::filesystem::exists(path("pgtune-MIG-fa4efa4e-0000-0000-0000-000000000001.lock")));
}

TEST_F(FleetTest, TheProblemsOfAGpuThatDiesInTheMiddleGoToTheOther) {
  fault("trial||killed|" + path("dead") + "|1;hello||exit3|" + path("dead") + "|1;trial||slow");
  launch_.arguments = arguments({"--device", "all", "--json"});
  Process process(launch_);
  await([&] { return requests("prepare") == 2 && requests("trial") >= 4; });
  write("dead", "from here on every worker on GPU 1 is killed or does not start");
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto found = results(finished);
  EXPECT_EQ(shapes_of(found), kTitles);
  for (const json& result : found) EXPECT_FALSE(result.contains("error")) << result;
  EXPECT_THAT(finished.err, AllOf(HasSubstr("GPU 1, "), HasSubstr("another GPU takes the problem"),
                                  HasSubstr("this GPU is left out from here on")));
  EXPECT_GE(measured_by(found).at('0'), 4);
}

TEST_F(FleetTest, AGpuThatNeverStartsIsLeftOutWithItsReason) {
  fault("hello||error||0");
  const Finished finished = search_all({"--device", "all", "--json"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(measured_by(results(finished)), (std::map<char, int>{{'1', 6}}));
  EXPECT_THAT(finished.err, AllOf(HasSubstr("GPU 0, "), HasSubstr("this machine cannot do it"),
                                  HasSubstr("this GPU is left out from here on")));
}

TEST_F(FleetTest, AProblemThatNoGpuCanDoIsGivenUpAndCostsNoGpu) {
  fault("prepare|512x512x512|error");
  const Finished finished = search_all({"--device", "all", "--json"});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  const auto found = results(finished);
  EXPECT_EQ(shapes_of(found), kTitles);
  for (const json& result : found) EXPECT_EQ(result.contains("error"), shape_of(result) == "512x512x512") << result;
  EXPECT_THAT(finished.err, AllOf(HasSubstr("the problem is given up"), Not(HasSubstr("left out"))));
  EXPECT_EQ(measured_by({found[0], found[2], found[3], found[4], found[5]}).size(), 2U);
}

TEST_F(FleetTest, WithoutAGpuThatWorksEveryProblemIsTold) {
  fault("hello||error");
  const Finished finished = search_all({"--device", "all", "--json"});
  EXPECT_EQ(finished.exit_code, 3);
  for (const json& result : results(finished))
    EXPECT_THAT(result.at("error").get<std::string>(), HasSubstr("not measured: "));
}

TEST_F(FleetTest, AUsageErrorIsTheProblemsOwn) {
  write("shapes.txt", "256x256x256\n512x512x4\n512x512x512\n");  // K is too short for tiny
  const Finished finished = search_all({"--device", "all", "--json"});
  EXPECT_EQ(finished.exit_code, 2) << finished.err;
  const auto found = results(finished);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found[1].at("error").get<std::string>(), HasSubstr("K is too short"));
  EXPECT_TRUE(found[2].contains("best"));
}

TEST_F(FleetTest, CompileWorkersAreAsManyAsAskedForHoweverManyGpus) {
  gpus(8);
  const Finished finished = search_all({"--device", "all", "--jobs", "2"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  std::set<std::string> compile, measure;
  std::istringstream lines(read("requests.log"));
  std::string pid, role;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream(line) >> pid >> role;
    if (role == "compile") compile.insert(pid);
    if (role == "measure") measure.insert(pid);
  }
  EXPECT_LE(compile.size(), 2U);
  EXPECT_GE(measure.size(), 2U);
}

TEST_F(FleetTest, ASignalStopsAllAndTheSameCommandGoesOn) {
  fault("trial||slow");
  launch_.arguments = arguments({"--device", "all"});
  Process process(launch_);
  await([&] { return requests("trial") > 3; });
  process.signal(SIGINT);
  const Finished stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  const int before = requests("trial");
  const Finished resumed = search_all({"--device", "all", "--json"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(shapes_of(results(resumed)), kTitles);
  EXPECT_GT(before, 0);
}

TEST_F(FleetTest, AListGoesOnWithWhatNoSearchHasBegun) {
  const std::vector<std::string> begun{"search",  "--template", path("tiny.json"), "--shape", kTitles[0],
                                       "--shape", kTitles[1],   "--variants",      "2",       "--device",
                                       "0"};
  ASSERT_EQ(pgtune(begun).exit_code, 0);
  auto fresh_first = kTitles;
  std::rotate(fresh_first.begin(), fresh_first.begin() + 2, fresh_first.end());
  const auto found = results(search_all({"--device", "0", "--variants", "4", "--json"}));
  EXPECT_EQ(shapes_of(found), fresh_first);
  for (const json& result : found) EXPECT_EQ(result.at("from_database"), false) << shape_of(result);
  const auto answered = results(search_all({"--device", "0", "--variants", "4", "--json"}));
  EXPECT_EQ(shapes_of(answered), kTitles) << "all are answered";
  // Without what is known there is nothing to go on with.
  EXPECT_EQ(shapes_of(results(search_all({"--device", "0", "--variants", "2", "--force", "--json"}))), kTitles);
}

TEST_F(FleetTest, WhatIsBegunIsSoAtTheClockThatWasLocked) {
  const auto locked = [&](const std::string& shape) {
    return pgtune({"search", "--template", path("tiny.json"), "--shape", shape, "--variants", "2", "--device", "0",
                   "--lock-clocks"});
  };
  ASSERT_EQ(locked(kTitles[0]).exit_code, 0);
  auto fresh_first = kTitles;
  std::rotate(fresh_first.begin(), fresh_first.begin() + 1, fresh_first.end());
  EXPECT_EQ(shapes_of(results(search_all({"--device", "0", "--variants", "4", "--json", "--lock-clocks"}))),
            fresh_first);
  EXPECT_EQ(shapes_of(results(search_all({"--device", "0", "--variants", "4", "--json"}))), kTitles)
      << "nothing was measured at a clock that is not locked";
}

TEST_F(FleetTest, ABenchMeasuresOnAllToo) {
  ASSERT_EQ(search_all({"--device", "0"}).exit_code, 0);
  const Finished finished =
      pgtune({"bench", "--template", path("tiny.json"), "--shapes", path("shapes.txt"), "--json", "--device", "0"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(shapes_of(results(finished)), kTitles);
}

TEST_F(FleetTest, ATerminalHasALineForEachGpuAndOneForAllWithin80Columns) {
  if (const std::string reason = why_no_terminal(); !reason.empty()) GTEST_SKIP() << reason;
  launch_.terminal = true;
  launch_.environment["TERM"] = "xterm";
  launch_.environment["NO_COLOR"] = "1";
  fault("trial||slow");
  const Finished finished = search_all();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("\rGPU 0  "), HasSubstr("\rGPU 1  "), HasSubstr(" of 6 problems done on 2 GPUs"),
                    Not(HasSubstr("\033[1m")), Not(HasSubstr("\033[3"))));
  std::istringstream redraws(finished.err);
  for (std::string drawn; std::getline(redraws, drawn, '\r');) {
    if (drawn.starts_with("GPU ")) {
      EXPECT_LT(drawn.find('\033'), 80U) << drawn;
    }
  }
}

TEST_F(FleetTest, PipedProgressIsPlainLines) {
  const Finished finished = search_all();
  EXPECT_THAT(finished.err, AllOf(Not(HasSubstr("\r")), Not(HasSubstr("\033"))));
  EXPECT_THAT(search_all({"--device", "all", "--quiet", "--force"}).err, "");
}

}  // namespace
}  // namespace pgtune::tool::test
