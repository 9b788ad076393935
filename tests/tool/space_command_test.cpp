// SPDX-License-Identifier: MIT
// pgtune space, inspect and devices: message, output, exit code.
#include <algorithm>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class TemplateCommandTest : public CliTest {
 protected:
  Finished with_tiny(const std::string& command, const std::vector<std::string>& more) {
    return pgtune({command, "--template", path("tiny.json")}, more);
  }
};

class SpaceTest : public TemplateCommandTest {
 protected:
  Finished space(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--shape", "256x256x256", "--device", "sm_90a"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return with_tiny("space", arguments);
  }
};

TEST_F(SpaceTest, ChecksAVariantOfTheTemplateWhereItIsAsked) {
  const Finished plain = space({});
  EXPECT_EQ(plain.exit_code, 0);
  EXPECT_EQ(requests("build"), 0);
  const Finished checked = space({"--check"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(requests("build"), 1);
  EXPECT_THAT(checked.err, HasSubstr("builds, and its kernels take what they are passed"));
  EXPECT_EQ(checked.out, plain.out);
}

class InspectTest : public TemplateCommandTest {
 protected:
  void SetUp() override {
    TemplateCommandTest::SetUp();
    launch_.environment["PGTUNE_NVDISASM"] = "/nonexistent/nvdisasm";
  }
  Finished inspect(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--device", "sm_90a"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return with_tiny("inspect", arguments);
  }
};

using DevicesTest = CliTest;

TEST_F(SpaceTest, CountsAreThoseOfADryRun) {
  const Finished text = with_tiny("space", {"--shape", "256x256x256"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("tiny for 256x256x256 f32 nn on Fake GPU"),
                              HasSubstr("12 points, 10 after the template's rules,\n10 valid for this problem")));
  const json counted = json::parse(with_tiny("space", {"--shape", "256x256x256", "--json"}).out);
  const json dry_run = json::parse(search({"--dry-run", "--json"}).out).at("counts");
  for (const char* count : {"space", "after_constraints", "valid"}) EXPECT_EQ(counted.at(count), dry_run.at(count));
}

TEST_F(SpaceTest, RulesThatRemovedNothingAreOnlyCounted) {
  const Finished text = space({});
  EXPECT_THAT(text.out, AllOf(HasSubstr("      2  template  the CTA tile is too large\n"),
                              HasSubstr("\n1 more rule removed nothing\n"), Not(HasSubstr("K is too short"))));
  const json removals = json::parse(space({"--json"}).out).at("removals");
  ASSERT_EQ(removals.size(), 2U);
  EXPECT_EQ(removals.at(0).at("removed"), 2);
  EXPECT_EQ(removals.at(1).at("removed"), 0);
  EXPECT_EQ(removals.at(1).at("reason"), "K is too short");
}

TEST_F(SpaceTest, ListHasAsManyVariantsAsAreValid) {
  const Finished text = space({"--list"});
  const auto variants = [](const std::string& out) {
    std::istringstream lines(out);
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.starts_with("BM=") ? 1 : 0;
    return count;
  };
  EXPECT_EQ(variants(text.out), 10);
  EXPECT_EQ(variants(space({}).out), 0);
  const json object = json::parse(space({"--list", "--json"}).out);
  EXPECT_EQ(object.at("schema"), 2);
  EXPECT_EQ(object.at("variants").size(), object.at("valid").get<std::size_t>());
}

TEST_F(SpaceTest, AnArchitectureNeedsNoWorker) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = space({"--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).at("architecture"), "sm_90a");
}

TEST_F(SpaceTest, UnknownArchitecture) {
  const Finished result = space({"--device", "sm_12"});
  EXPECT_EQ(result.exit_code, 2);
  const Finished only = with_tiny("space", {"--shape", "64x64x64", "--device", "sm_12"});
  EXPECT_EQ(only.exit_code, 2);
  EXPECT_THAT(only.err, AllOf(HasSubstr("unknown architecture 'sm_12'"), HasSubstr("sm_80"), HasSubstr("sm_90a")));
}

TEST_F(SpaceTest, NothingValidIsExitCodeOne) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, std::vector<std::string>{"--json"}}) {
    std::vector<std::string> arguments{"--shape", "64x64x4", "--device", "sm_90a"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished result = with_tiny("space", arguments);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.out, HasSubstr("K is too short"));
    EXPECT_THAT(result.err, HasSubstr("no variant of tiny is valid for 64x64x4 f32 nn"));
  }
}

TEST_F(SpaceTest, TheShippedTemplateFits80Columns) {
  const Finished result = pgtune({"space", "--shape", "1000x1000x1000", "--device", "sm_80"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_80_columns(result.out);
  EXPECT_THAT(result.out, ::testing::ContainsRegex("\n[0-9]+ more rules removed nothing\n"));
}

TEST_F(InspectTest, WithoutALegalDefaultIsOfTheFirstLegalVariant) {
  std::string tiny = read("tiny.json");
  tiny.replace(tiny.find("K >= 8"), 6, "BM < 64");  // the default
  write("tiny.json", tiny);
  const Finished text = inspect({"--shape", "256x128x64"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\n  BM=32,BN=32,COPY=ldg\n"));
  EXPECT_THAT(text.err, HasSubstr("The default of tiny is not legal here: its first legal variant."));
  expect_80_columns(text.err);
}

TEST_F(InspectTest, ShowsWhatTheBuildReportsAndWhyThereIsNoMachineCode) {
  const Finished text = inspect({"--variant", "BM=32,COPY=cp_async", "--shape", "256x128x64"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("tiny for 256x128x64 f32 nn on sm_90a\n  BM=32,BN=64,COPY=cp_async\n"),
                    ::testing::ContainsRegex("grid x threads +2 x 8 x 1 CTAs of 128\n"),
                    ::testing::ContainsRegex("registers +[0-9]+ per thread\n"),
                    ::testing::ContainsRegex("shared memory +6144 bytes per CTA\n"),
                    ::testing::ContainsRegex("local memory +[0-9]+ bytes per thread, [0-9]+ of them spill traffic\n"),
                    ::testing::ContainsRegex("occupancy +[0-9]+ CTAs = [0-9]+ warps per SM"),
                    ::testing::ContainsRegex("compile time +[0-9.]+ s( \\(from the cache\\))?\n"),
                    HasSubstr("No instruction counts: no disassembler: PGTUNE_NVDISASM is")));
  expect_80_columns(text.out);
  const json object = json::parse(inspect({"--variant", "BM=32,COPY=cp_async", "--json"}).out);
  EXPECT_EQ(object.at("schema"), 2);
  EXPECT_EQ(object.at("smem_bytes"), 6144);
  EXPECT_EQ(object.at("threads"), 128);
  EXPECT_GT(object.at("registers").get<int>(), 0);
  EXPECT_GT(object.at("occupancy").at("ctas_per_sm").get<int>(), 0);
  EXPECT_TRUE(object.at("instructions").is_null());
  EXPECT_THAT(object.at("instructions_missing").get<std::string>(), HasSubstr("/nonexistent/nvdisasm"));
}

TEST_F(InspectTest, MachineCodeWithoutADisassemblerIsAnEnvironmentError) {
  const Finished result = inspect({"--sass"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("PGTUNE_NVDISASM"), HasSubstr("/nonexistent/nvdisasm")));
}

TEST_F(InspectTest, CountsWhatTheDisassemblerPrints) {
  write("nvdisasm", "#!/bin/sh\necho '        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;'\n");
  std::filesystem::permissions(path("nvdisasm"), std::filesystem::perms::owner_all);
  launch_.environment["PGTUNE_NVDISASM"] = path("nvdisasm");
  const Finished text = inspect({"--sass"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("1 instructions in the machine code"), HasSubstr("1 LDG.128"),
                              HasSubstr("LDG.E.128 R4, desc")));
  const json object = json::parse(inspect({"--sass", "--json"}).out);  // one JSON document, code and all
  EXPECT_EQ(object.at("instructions").at("by_opcode").at("LDG.128"), 1);
  EXPECT_THAT(object.at("sass").get<std::string>(), HasSubstr("LDG.E.128"));
}

TEST_F(InspectTest, IllegalVariantsNameTheReason) {
  const Finished illegal = inspect({"--variant", "BM=64,BN=128"});
  EXPECT_EQ(illegal.exit_code, 2);
  EXPECT_THAT(illegal.err, AllOf(HasSubstr("BM=64,BN=128"), HasSubstr("the CTA tile is too large"),
                                 HasSubstr("pgtune space --grid full --list")));
  const Finished shape = inspect({"--shape", "64x64x4"});
  EXPECT_EQ(shape.exit_code, 2);
  EXPECT_THAT(shape.err, HasSubstr("K is too short"));
  EXPECT_EQ(requests("build"), 0);
}

TEST_F(InspectTest, WrongVariants) {
  const Finished parameter = inspect({"--variant", "BQ=1"});
  EXPECT_EQ(parameter.exit_code, 2);
  EXPECT_THAT(parameter.err, AllOf(HasSubstr("'BQ'"), HasSubstr("did you mean 'BM'?")));
  const Finished value = inspect({"--variant", "BM=48"});
  EXPECT_EQ(value.exit_code, 2);
  EXPECT_THAT(value.err, AllOf(HasSubstr("48"), HasSubstr("32")));
}

TEST_F(InspectTest, ProblemOptionsApplyWithoutAShapeAndOneProblemIsInspected) {
  const Finished layout = inspect({"--layout", "tn"});
  EXPECT_EQ(layout.exit_code, 0) << layout.err;
  EXPECT_THAT(layout.out, HasSubstr("tiny for 4096x4096x4096 f32 tn"));
  const Finished two = inspect({"--shape", "64x64x64", "--shape", "128x64x64"});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, AllOf(HasSubstr("one problem, not 2"), HasSubstr("Give one --shape")));
}

TEST_F(InspectTest, AVariantThatDoesNotBuildAndAWorkerThatIsNotThere) {
  launch_.environment["PGTUNE_FAKE"] = "build||fail";
  const Finished failed = inspect({});
  EXPECT_EQ(failed.exit_code, 2) << "the template is a user's own";
  EXPECT_THAT(failed.err, AllOf(HasSubstr("did not build (compile_failed)"), HasSubstr("fake: does not compile")));
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished missing = inspect({});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("no-worker"));
}

TEST_F(DevicesTest, ListsTheGpus) {
  const Finished text = pgtune({"devices"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.err, "");
  EXPECT_THAT(text.out, AllOf(::testing::ContainsRegex("\n  0  Fake GPU  sm_90a  132  80 GiB  50 MiB  580.00.00\n"),
                              HasSubstr("GPU 0: GPU-fa4efa4e-0000-0000-0000-000000000000\n")));
  const json devices = json::parse(pgtune({"devices", "--json"}).out).at("devices");
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices.at(0).at("name"), "Fake GPU");
  EXPECT_EQ(devices.at(0).at("sm_count"), 132);
}

TEST_F(DevicesTest, NoGpuIsExitCodeThreeWithTheCause) {
  launch_.environment["PGTUNE_FAKE"] = "list||no_devices";
  const Finished none = pgtune({"devices"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("no driver is loaded. Install one"));
  const Finished as_json = pgtune({"devices", "--json"});
  EXPECT_EQ(as_json.exit_code, 3);
  const json object = json::parse(as_json.out);
  EXPECT_EQ(object.at("devices"), json::array());
  EXPECT_THAT(object.at("problem").get<std::string>(), HasSubstr("no driver is loaded"));
}

TEST_F(DevicesTest, NoWorker) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = pgtune({"devices"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("no-worker"));
}

}  // namespace
}  // namespace pgtune::tool::test
