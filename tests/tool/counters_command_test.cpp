// SPDX-License-Identifier: MIT
// --counters of search, bench and inspect, with a profiler that only runs its program and writes a table.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::StartsWith;

class CountersCommand : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    profiler(text_of(kFakeProfiler));
  }
  void profiler(const std::string& text) {
    write_program("ncu", text);
    launch_.environment["PGTUNE_NCU"] = path("ncu");
  }
  [[nodiscard]] std::size_t profiler_runs() const {
    const std::string runs = read("profiler-runs");
    return static_cast<std::size_t>(std::count(runs.begin(), runs.end(), '\n'));
  }
  Finished bench(const std::vector<std::string>& more = {}) {
    return pgtune({"bench", "--template", path("tiny.json"), "--shape", "256x256x256"}, more);
  }
  Finished inspect(const std::vector<std::string>& more) {
    return pgtune({"inspect", "--template", path("tiny.json"), "--shape", "256x256x256"}, more);
  }
};

TEST_F(CountersCommand, OfAWinnerStandBesideCublasLtsWithTheirReasons) {
  const Finished done = search({"--counters"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("GPU 0: reading hardware counters with the profiler"));
  EXPECT_THAT(done.out, AllOf(HasSubstr("counters"), HasSubstr("DRAM read, MB"), HasSubstr("12.6"), HasSubstr("21.0"),
                              ContainsRegex("into SMs, MB +25.6 +20.2"), HasSubstr("stall long scoreboard, %"),
                              HasSubstr("61.0")));
  EXPECT_THAT(done.out, AllOf(HasSubstr("#1        tiny\n"), HasSubstr("2 kernels, the longest gemm<(int)4>"),
                              HasSubstr("why       "), HasSubstr("its warps wait for DRAM 61 % of their time"),
                              HasSubstr("moves 0.60 times cuBLASLt's bytes to and from DRAM"),
                              HasSubstr("ncu 2025.3.1.0, of one launch each")));
  EXPECT_THAT(done.out, Not(HasSubstr("tensor pipe"))) << "no kernel has a number";
  expect_80_columns(done.out);
}

TEST_F(CountersCommand, AreKeptWithTheResult) {
  ASSERT_EQ(search({"--counters"}).exit_code, 0);
  const int measured = requests("round");
  const Finished again = search({"--counters", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(profiler_runs(), 1U);
  EXPECT_EQ(requests("round"), measured);
  const json counters = json::parse(again.out).at("counters");
  ASSERT_EQ(counters.at("contenders").size(), 2U);
  const json& winner = counters["contenders"][0];
  EXPECT_EQ(winner.at("template"), "tiny");
  EXPECT_EQ(winner.at("counters").at("dram_read_bytes"), 12.6e6);
  EXPECT_EQ(winner["counters"].at("profiler"), "ncu 2025.3.1.0");
  EXPECT_THAT(winner.at("measured_at").get<std::string>(), EndsWith("Z"));
  EXPECT_FALSE(winner["counters"].contains("tensor_pipe_share"));
  EXPECT_EQ(counters["contenders"][1].at("counters").at("kernels"), 2);
  EXPECT_THAT(winner.at("why").get<std::vector<std::string>>(), Contains(StartsWith("its warps wait for DRAM")));
}

TEST_F(CountersCommand, AreReadForAnAnswerThatHasNoneYet) {
  ASSERT_EQ(search().exit_code, 0);
  const int measured = requests("round");
  const Finished done = search({"--counters"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("DRAM read, MB"));
  EXPECT_EQ(requests("round"), measured) << "the answer stands";
  EXPECT_EQ(profiler_runs(), 1U);
}

TEST_F(CountersCommand, TheAlgorithmThatRatiosAreToIsLaunched) {
  const Finished done = search({"--counters", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json document = json::parse(done.out);
  EXPECT_THAT(document.at("counters").at("contenders").back().at("algorithm").get<std::string>(),
              EndsWith(document.at("baseline").at("best").at("algorithm").get<std::string>()));
  EXPECT_EQ(requests("launch"), 2);
  // The profiled worker takes over what the search knew of the baseline.
  EXPECT_GE(requests("prepare"), 2);
  EXPECT_THAT(read("requests.log"), HasSubstr(" known\n"));
}

TEST_F(CountersCommand, OfABenchAreOfEveryVariant) {
  ASSERT_EQ(search().exit_code, 0);
  const Finished done = bench({"--variant", "BM=32,BN=32,COPY=ldg", "--variant", "BM=64,BN=64,COPY=ldg", "--counters"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("#1"), HasSubstr("#2"), HasSubstr("cuBLASLt\n"), HasSubstr("DRAM read, MB")));
  EXPECT_EQ(requests("launch"), 3);
  expect_80_columns(done.out);
}

TEST_F(CountersCommand, OfAStoredResultAreShownWithIt) {
  ASSERT_EQ(search({"--counters"}).exit_code, 0);
  EXPECT_THAT(pgtune({"show"}).out, Not(HasSubstr("counters:")));
  const Finished explained = pgtune({"show", "--explain"});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("\n  counters: moves 0.60 times cuBLASLt's bytes to and from DRAM\n"));
  expect_80_columns(explained.out);
  const json shown = json::parse(pgtune({"show", "--json"}).out).at("results").at(0);
  EXPECT_EQ(shown.at("counters").at("contenders").at(0).at("counters").at("dram_read_bytes"), 12.6e6);
  EXPECT_THAT(pgtune({"report", "--roofline"}).out, AllOf(HasSubstr("MB of a launch"), HasSubstr("12.6")));
}

TEST_F(CountersCommand, WithoutAProfilerALineSaysWhatToInstall) {
  launch_.environment["PGTUNE_NCU"] = path("none");
  const Finished done = search({"--counters"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("counters  none: no profiler: PGTUNE_NCU is"));
  EXPECT_EQ(json::parse(search({"--counters", "--json"}).out).at("counters").at("contenders").size(), 0U);
}

TEST_F(CountersCommand, WhoCannotBeLaunchedHasNone) {
  launch_.environment["PGTUNE_FAKE"] = "launch|BM=|fail";
  std::string text = text_of(kFakeProfiler);
  text.replace(text.find("grep '\"op"), 4, "grep -v symbol \"$last\" | grep");
  profiler(text);
  const Finished done = search({"--counters"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("#1        no counters: fake: does not launch"));
}

TEST_F(CountersCommand, AWorkerThatCannotPrepareSaysWhy) {
  ASSERT_EQ(search().exit_code, 0);
  launch_.environment["PGTUNE_FAKE"] = "prepare||error";
  const Finished done = search({"--counters"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("counters  none: fake: this machine cannot do it"));
}

TEST_F(CountersCommand, InspectLaunchesTheVariantItLooksAt) {
  launch_.environment["PGTUNE_FAKE"] = "prepare||strict";
  const Finished done = inspect({"--variant", "BM=32,BN=64", "--counters"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("registers"), HasSubstr("DRAM read, MB"), HasSubstr("times fake's bytes")));
  EXPECT_EQ(requests("launch", "BM=32,BN=64,COPY=ldg"), 1);
  EXPECT_EQ(requests("trial"), 0);
  const json object = json::parse(inspect({"--variant", "BM=32,BN=64", "--counters", "--json"}).out);
  EXPECT_EQ(object.at("counters").at("contenders").back().at("algorithm"), "fake library: its best");
  expect_80_columns(done.out);
}

TEST_F(CountersCommand, InspectOfAnArchitectureSaysThatItNeedsAGpu) {
  const Finished done = inspect({"--device", "sm_90a", "--counters"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("counters  none: an architecture has none; they are read on a GPU"));
  EXPECT_EQ(profiler_runs(), 0U);
}

}  // namespace
}  // namespace pgtune::tool::test
