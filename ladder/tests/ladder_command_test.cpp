// SPDX-License-Identifier: MIT
// pgtune ladder: rungs on the fake GPU, only built, and refused.
#include "tests/tool/cli_fixture.hpp"
#include "tests/tool/operation_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

/// Two rungs that pass, one that no problem allows, and the stored best.
constexpr const char* kTinyLadder = R"json({
  "schema": 1, "name": "steps", "description": "for tests", "dtype": "f32",
  "rungs": [
    {"name": "small", "template": "./tiny.json", "variant": "BM=32,BN=32", "change": "a small tile", "lesson": "how it starts"},
    {"name": "too large", "template": "./tiny.json", "variant": "BM=64,BN=128", "change": "a large tile", "lesson": "what is refused"},
    {"name": "copied", "template": "./tiny.json", "variant": "BM=32,BN=32,COPY=cp_async", "change": "another copy", "lesson": "one change"},
    {"name": "winner", "stored_best": true, "change": "the best", "lesson": "what searching adds"}]
})json";

/// A fake ncu: prints a line of numbers for each launch in the file of requests, its last argument.
constexpr const char* kFakeProfiler = R"sh(#!/bin/sh
while [ "${1#--}" != "$1" ]; do
  [ "$1" = --version ] && exit
  [ "$1" = --log-file ] && log=$2
  [ "$1" = --csv ] || shift
  shift
done
for last; do :; done
"$@"
{
  echo '"ID","Kernel Name","smsp__average_warp_latency_per_inst_issued.ratio","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"'
  grep '"launch"' "$last" | sed 's/.*"symbol":"\([a-z_]*\)".*/"1","\1","4.0","1.0"/'
} > "$log"
)sh";

class LadderTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write("steps.json", kTinyLadder);
    launch_.environment["PGTUNE_NVDISASM"] = program("nvdisasm", "#!/bin/sh\ncat '" + path("code") + "'\n");
    write("code",
          ".L_x_1:\n /*0000*/ LDG.E.128 R4, desc[UR4][R2.64] ;\n /*0010*/ LDS.128 R4, [R2] ;\n"
          " /*0020*/ FFMA R4, R4, R5, R6 ;\n /*0030*/ @P0 BRA `(.L_x_1) ;\n");
  }
  std::string program(const std::string& name, const std::string& text) {
    write_program(name, text);
    return path(name);
  }
  Finished ladder(const std::vector<std::string>& more = {}) {
    return pgtune({"ladder", "--ladder", path("steps.json"), "--shape", "256x256x256"}, more);
  }
};

TEST_F(LadderTest, EveryRungHasItsSpeedItsCodeAndItsLesson) {
  const Finished text = ladder();
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("256x256x256 f32 nn, ladder steps\nFake GPU"), HasSubstr("% of cuBLASLt"),
                              HasSubstr("\n#1        small: a small tile; how it starts\n"),
                              HasSubstr("not here: the CTA tile is too large"), HasSubstr("LDG 128"),
                              HasSubstr("25.0 %"), HasSubstr("\nnoise     "), HasSubstr("\ncuBLASLt  ")));
  EXPECT_THAT(text.out, HasSubstr("not here: nothing is stored for 256x256x256 f32 nn on this device"));
  EXPECT_THAT(text.out, Not(HasSubstr("long sb")));
  expect_80_columns(text.out);
  EXPECT_EQ(requests("trial"), 2);
}

TEST_F(LadderTest, JsonHasTimesGainsAndReasons) {
  const Finished result = ladder({"--json", "--rounds", "8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json object = json::parse(result.out);
  EXPECT_EQ(object.at("ladder"), "steps");
  const json& rungs = object.at("rungs");
  ASSERT_EQ(rungs.size(), 4U);
  EXPECT_TRUE(rungs[0].at("gain").is_null());
  EXPECT_EQ(rungs[1].at("absent"), "the CTA tile is too large");
  EXPECT_NEAR(rungs[2].at("gain").get<double>(),
              rungs[0].at("time_s").get<double>() / rungs[2].at("time_s").get<double>(), 1e-12);
  EXPECT_GT(rungs[2].at("ratio_to_baseline").at("median").get<double>(), 0);
  EXPECT_EQ(rungs[2].at("build").at("main_loop").at("ffma_share"), 0.25);
  EXPECT_EQ(rungs[2].at("in_rounds"), true);
  EXPECT_TRUE(rungs[3].at("variant").is_null());
  EXPECT_FALSE(object.contains("counters_missing"));
}

TEST_F(LadderTest, TheWinnerIsTheBestThatIsStored) {
  // A template that the ladder's rungs name.
  const json searched = json::parse(search({"--json"}).out);
  const json object = json::parse(ladder({"--json"}).out);
  EXPECT_EQ(object.at("rungs").at(3).at("variant"), searched.at("ranking").at(0).at("variant"));
}

TEST_F(LadderTest, CountersComeFromTheProfiler) {
  launch_.environment["PGTUNE_NCU"] = program("ncu", kFakeProfiler);
  launch_.environment["PGTUNE_FAKE"] = "prepare||strict";
  const Finished text = ladder({"--counters"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("long sb"), HasSubstr(" 25.0 "), Not(HasSubstr("No counters"))));
  expect_80_columns(text.out);
  const json object = json::parse(ladder({"--counters", "--json"}).out);
  EXPECT_TRUE(object.at("counters_missing").is_null());
  EXPECT_EQ(object.at("rungs").at(2).at("counters").at("stall_barrier"), 0.25);
}

TEST_F(LadderTest, WithoutAProfilerThereAreNoCountersAndTheRemedyIsSaid) {
  launch_.environment["PGTUNE_NCU"] = "/nonexistent/ncu";
  const Finished text = ladder({"--counters"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("No counters: no profiler: PGTUNE_NCU is '/nonexistent/ncu'"),
                              HasSubstr("small"), Not(HasSubstr("stalls in percent"))));
  expect_80_columns(text.out);
}

TEST_F(LadderTest, WithoutADisassemblerItSaysSoOnceAndHasNoColumnsForIt) {
  launch_.environment["PGTUNE_NVDISASM"] = "/nonexistent/nvdisasm";
  const Finished text = ladder();
  EXPECT_EQ(text.exit_code, 0) << text.err;
  const std::size_t first = text.out.find("No instruction counts: ");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.out.find("disassembler", text.out.find("disassembler", first) + 1), std::string::npos);
  EXPECT_THAT(text.out, AllOf(HasSubstr("registers"), Not(HasSubstr("LDS bits")), Not(HasSubstr(" - "))));
}

TEST_F(LadderTest, ARungThatFailsIsNamedAndTheOthersGoOn) {
  launch_.environment["PGTUNE_FAKE"] = "trial|cp_async|wrong";
  const Finished text = ladder();
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("failed: wrong_result: fake: largest error"));
  launch_.environment["PGTUNE_FAKE"] = "trial||wrong";
  EXPECT_EQ(ladder().exit_code, 1);
}

TEST_F(LadderTest, AnArchitectureIsBuiltForButNotTimed) {
  const Finished text = ladder({"--device", "sm_80"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("registers"), HasSubstr("LDG 128"), Not(HasSubstr("TFLOP/s"))));
  EXPECT_EQ(requests("prepare"), 0);
  EXPECT_FALSE(std::filesystem::exists(database()));
  const Finished counters = ladder({"--device", "sm_80", "--counters"});
  EXPECT_EQ(counters.exit_code, 2);
  EXPECT_THAT(counters.err, HasSubstr("--counters needs a GPU"));
}

TEST_F(LadderTest, CountersWithoutAGpuAreAMissingGpu) {
  launch_.environment["PGTUNE_FAKE"] = "list||no_devices";
  const Finished result = ladder({"--counters"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("no driver is loaded. Install one"), Not(HasSubstr("only built"))));
}

TEST_F(LadderTest, ARecordingIsRefusedWithTheRemedy) {
  const Finished result = ladder({"--device", "recording"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(HasSubstr("a recording holds no ladder"), HasSubstr("sm_90a")));
}

TEST_F(LadderTest, WrongInputIsAUsageError) {
  EXPECT_THAT(pgtune({"ladder", "--ladder", "sgem"}).err, HasSubstr("did you mean 'sgemm'?"));
  EXPECT_THAT(ladder({"--shape", "64x64x64"}).err, HasSubstr("Give one --shape"));
  const Finished missing = pgtune({"ladder", "--ladder", path("none.json")});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("cannot read the ladder"));
  std::string broken = kTinyLadder;
  broken.replace(broken.find("BM=32"), 5, "BQ=32");
  write("steps.json", broken);
  const Finished parameter = ladder();
  EXPECT_EQ(parameter.exit_code, 2);
  EXPECT_THAT(parameter.err, AllOf(HasSubstr("rung 'small'"), HasSubstr("BQ")));
}

TEST_F(LadderTest, TheShippedLadderBuilds) {
  const Finished text = pgtune({"ladder", "--device", "sm_90a"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("naive: "), HasSubstr("TMA and mbarriers: "), HasSubstr("tuned winner: "),
                              HasSubstr("not here: where rungs are only built")));
  expect_80_columns(text.out);
}

using OwnOperationLadder = OwnOperationTest;

TEST_F(OwnOperationLadder, LaddersAreOfTheirOperation) {
  const auto softmax = [&](const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--dtype", "bf16"};
    if (command == "search") arguments.insert(arguments.end(), {"--variants", "4", "-q"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return of(command, "softmax", "M=4096,N=8192", arguments);
  };
  ASSERT_EQ(softmax("search").exit_code, 0);
  const Finished climbed = softmax("ladder");
  EXPECT_EQ(climbed.exit_code, 0) << climbed.err;
  EXPECT_THAT(climbed.out, AllOf(HasSubstr("two passes, one by one"), HasSubstr("winner"), HasSubstr("GB/s"),
                                 HasSubstr("% of copy"), HasSubstr("\ncopy      ")));
  EXPECT_THAT(softmax("ladder", {"--ladder", "sgemm"}).err, HasSubstr("is about GEMM, not 'softmax'"));
  EXPECT_THAT(pgtune({"ladder", "--ladder", "softmax"}).err, HasSubstr("is about 'softmax', not GEMM"));
  EXPECT_THAT(of("ladder", path("twice.json"), "N=4").err,
              HasSubstr("'twice' has no ladder: GEMM and softmax have one."));
  EXPECT_THAT(of("ladder", path("twice.json"), "N=4", {"--ladder", "soft"}).err, HasSubstr("unknown ladder 'soft'"));
}

TEST_F(LadderTest, WrongUseIsRefusedWithTheReason) {
  for (const auto& [more, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--device", "sm_90a", "--rounds", "0"}, "--rounds '0'"},
           {{"--device", "sm_90a", "--seed", "x"}, "--seed 'x'"},
           {{"--power"}, "unknown option '--power'"}}) {
    const Finished refused = ladder(more);
    EXPECT_EQ(refused.exit_code, 2) << message;
    EXPECT_THAT(refused.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace pgtune::tool::test
