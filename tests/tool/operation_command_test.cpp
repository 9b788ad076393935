// SPDX-License-Identifier: MIT
// Every command that takes --operation, for a built-in operation and for a user's own.
#include <regex>
#include <string_view>

#include "tests/tool/operation_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class OperationTest : public OwnOperationTest {
 protected:
  Finished softmax(const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--dtype", "bf16"};
    if (command == "search") arguments.insert(arguments.end(), {"--variants", "4", "-q"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return of(command, "softmax", "M=4096,N=8192", arguments);
  }
};

TEST_F(OperationTest, ATemplateWithNothingToTryIsNoErrorBesideAnother) {
  const std::vector<std::string> hopper{"--device", "sm_90a"};
  const Finished both = of("space", "gemm_grouped", "G=8,M=1024,N=1024,K=1024", hopper);
  EXPECT_EQ(both.exit_code, 0);
  EXPECT_EQ(both.err, "");
  EXPECT_THAT(both.out, AllOf(HasSubstr("gemm_grouped_mma for"), HasSubstr(" 0 of them in the preset"),
                              HasSubstr("the template with wgmma takes these sizes")));
  const Finished alone =
      of("space", "gemm_grouped", "G=8,M=1024,N=1024,K=1024", {"--device", "sm_90a", "--template", "gemm_grouped_mma"});
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("no variant of gemm_grouped_mma is worth trying by its presets"),
                               HasSubstr("--grid full has those that are valid")));
}

TEST_F(OperationTest, InspectTakesTheTemplateThatASearchWouldTry) {
  launch_.environment["PGTUNE_NVDISASM"] = "/nonexistent/nvdisasm";
  const auto inspected = [&](const std::vector<std::string>& more) {
    return of("inspect", "gemm_grouped", "G=8,M=1024,N=1024,K=1024", more);
  };
  const Finished hopper = inspected({"--device", "sm_90a"});
  EXPECT_EQ(hopper.exit_code, 0) << hopper.err;
  EXPECT_THAT(hopper.out, HasSubstr("gemm_grouped_wgmma for"));
  EXPECT_THAT(hopper.err, HasSubstr("Other templates: --template gemm_grouped_mma"));
  EXPECT_THAT(inspected({"--device", "sm_80"}).out, HasSubstr("gemm_grouped_mma for"));
  EXPECT_THAT(inspected({"--device", "sm_90a", "--variant", "WM=64"}).out, HasSubstr("gemm_grouped_mma for"));
  const Finished unknown = inspected({"--device", "sm_90a", "--variant", "WHAT=1"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("has no parameter 'WHAT'"));
}

TEST_F(OperationTest, AGuessOfAnOperationThatShipsIsTaughtByItsRecording) {
  launch_.program = PGTUNE_FEW_RECORDINGS;
  const Finished guessed = of("guess", "gemm_block_scaled", "M=96,N=7168,K=2048", {"--device", "sm_90a", "--json"});
  ASSERT_EQ(guessed.exit_code, 0) << guessed.err;
  const json guess = json::parse(guessed.out);
  EXPECT_EQ(guess.at("template"), "gemm_block_scaled_wgmma");
  EXPECT_EQ(guess.at("seen_template"), true);
}

TEST_F(OperationTest, SearchesOfAUsersOwnTeachTheNextOnes) {
  launch_.program = PGTUNE_FEW_RECORDINGS;
  const auto guess = [&] { return of("guess", path("twice.json"), "N=16384").out; };
  const auto search = [&](const std::string& size) {
    const Finished searched = of("search", path("twice.json"), size, {"--strategy", "model", "--json"});
    EXPECT_EQ(searched.exit_code, 0) << searched.err;
    return json::parse(searched.out).at("notes").dump();
  };
  EXPECT_THAT(guess(), AllOf(HasSubstr("no search with this template"), HasSubstr("what it may lose is unknown"),
                             Not(HasSubstr(" slower than the best"))));
  EXPECT_TRUE(json::parse(of("guess", path("twice.json"), "N=16384", {"--json"}).out).at("expected_loss").is_null());
  EXPECT_THAT(search("N=4096"), HasSubstr("none of them with twice"));
  EXPECT_THAT(search("N=8192"), HasSubstr("none of them with twice")) << "what the first taught is fitted beside it";
  EXPECT_THAT(search("N=12288"), AllOf(HasSubstr("the model was trained on"), Not(HasSubstr("none of them with"))));
  EXPECT_THAT(guess(), AllOf(HasSubstr("guessed, not measured"), Not(HasSubstr("no search with this template"))));
}

TEST_F(OperationTest, AUsersOwnIsSearchedStoredAndShown) {
  const Finished searched = of("search", path("twice.json"), "N=4096", {"--json"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  const json result = json::parse(searched.out);
  EXPECT_EQ(result.at("problem").at("operation").at("name"), "twice");
  EXPECT_EQ(requests("trial"), 3);
  EXPECT_THAT(of("search", path("twice.json"), "N=4096").out, HasSubstr("-o best.hpp --operation FILE.json\n"));
  EXPECT_EQ(requests("trial"), 3) << "answered from the database";
  const Finished shown = pgtune({"show"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("twice N=4096"), HasSubstr("GB/s"), HasSubstr("of copy's best")));
  const Finished benched = of("bench", path("twice.json"), "N=4096");
  EXPECT_EQ(benched.exit_code, 0) << benched.err;
  EXPECT_THAT(benched.out, AllOf(HasSubstr("held: "), HasSubstr("x copy's best")));
  EXPECT_THAT(of("space", path("twice.json"), "N=4096").out, HasSubstr("3 valid for this problem"));
}

TEST_F(OperationTest, ALibrarysProductIsWhatRatiosAreToAndTheCopyStandsBesideIt) {
  const std::vector<std::string> quick{"--variants", "4", "-q"};
  const std::string sizes = "M=512,N=1024,K=512";
  const Finished text = of("search", "gemm_block_scaled", sizes, quick);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("x cuBLASLt's best"), HasSubstr("\ncuBLASLt  best "), HasSubstr(", copy alone")));
  const json result = json::parse(of("search", "gemm_block_scaled", sizes, {"--variants", "4", "--json"}).out);
  const json& baseline = result.at("baseline");
  EXPECT_EQ(baseline.at("library"), "cuBLASLt 13.0.0 (fake)");
  EXPECT_EQ(baseline.at("others").at(0).at("library"), "copy");
  EXPECT_GT(baseline.at("others").at(0).at("time_s"), 0);
  EXPECT_THAT(pgtune({"show"}).out, AllOf(HasSubstr("of cuBLASLt's best"), HasSubstr("copy beside it, timed alone: ")));
  EXPECT_THAT(pgtune({"report"}).out, Not(HasSubstr("ways of copying")));
}

TEST_F(OperationTest, WhereTheLibraryHasNoneTheCopyIsLeftAndTheReasonIsSaid) {
  launch_.environment["PGTUNE_FAKE_NO_BASELINE"] = "1";
  const Finished searched = of("search", "gemm_block_scaled", "M=512,N=1024,K=512", {"--variants", "4", "-q"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  EXPECT_THAT(searched.out, AllOf(HasSubstr("x copy's best"), HasSubstr(", no cuBLASLt")));
  EXPECT_THAT(pgtune({"show"}).out,
              AllOf(HasSubstr("of copy's best"), HasSubstr("(fake) is not there to be compared with: ")));
  EXPECT_THAT(pgtune({"report"}).out,
              AllOf(HasSubstr("ways of copying"), HasSubstr("cannot compute gemm_block_scaled")));
}

TEST_F(OperationTest, AnOperationThatItsNullTestRejectsIsUsageAndNothingIsMeasured) {
  launch_.environment["PGTUNE_FAKE"] = "prepare|twice|loose_rule";
  for (const char* command : {"search", "bench"}) {
    std::vector<std::string> more{"--json"};
    if (std::string_view(command) == "bench") more.insert(more.end(), {"--variant", "THREADS=64"});
    const Finished refused = of(command, path("twice.json"), "N=4096", more);
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("preparing twice N=4096: the operation 'twice' is rejected by its null "),
                                   HasSubstr("test: zeros in Y pass: the error rule is too loose")))
        << command;
  }
  EXPECT_EQ(requests("trial"), 0);
  EXPECT_EQ(pgtune({"show"}).exit_code, 1) << "there is no result";
}

TEST_F(OperationTest, AReferenceThatFaultsCostsItsProblemAlone) {
  launch_.environment["PGTUNE_FAKE"] = "prepare|twice N=8192 |bad_reference";
  write("sizes.txt", "N=4096\nN=8192\nN=16384\n");
  const Finished searched =
      pgtune({"search", "--operation", path("twice.json"), "--sizes", path("sizes.txt"), "--json"});
  EXPECT_EQ(searched.exit_code, 2);
  EXPECT_THAT(searched.err, AllOf(HasSubstr("preparing twice N=8192: "),
                                  HasSubstr("running the reference of the operation 'twice': ")));
  const json results = json::parse(searched.out).at("results");
  ASSERT_EQ(results.size(), 3);
  EXPECT_TRUE(results.at(0).contains("best"));
  EXPECT_THAT(results.at(1).at("error"), HasSubstr("the reference of the operation 'twice'"));
  EXPECT_TRUE(results.at(2).contains("best"));
  const Finished shown = pgtune({"show"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("twice N=4096"), HasSubstr("twice N=16384"), Not(HasSubstr("N=8192"))));
  // By itself it ends the search, and what was found before stays.
  const Finished alone = of("search", path("twice.json"), "N=8192");
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("running the reference of the operation 'twice'"));
  EXPECT_EQ(pgtune({"show"}).out, shown.out);
}

TEST_F(OperationTest, WhatTheCheckDoesNotShowIsANoteOfEveryResult) {
  json operation = json::parse(kOwnOperation);
  operation["null_test"] = false;
  operation["buffers"][1]["error"] = {{"rule", "allclose"}, {"relative", 0.01}, {"absolute", 0.5}};
  write("loose.json", operation.dump());
  const auto expect_noted = [&](const std::string& text, const std::string& of_what) {
    std::string words = std::regex_replace(text, std::regex("\\s+"), " ");
    EXPECT_THAT(words, AllOf(HasSubstr("leaves out the null test"),
                             HasSubstr("by a tolerance of its operation's author (allclose, relative 0.01, absolute "
                                       "0.5) and not by a derived bound")))
        << of_what;
  };
  expect_noted(of("search", path("loose.json"), "N=4096", {"-v"}).out, "a search");
  const json again = json::parse(of("search", path("loose.json"), "N=4096", {"--json"}).out);
  EXPECT_EQ(again.at("from_database"), true);
  expect_noted(again.at("notes").dump(), "a search with --json");
  expect_noted(pgtune({"show"}).out, "show");
  expect_noted(json::parse(pgtune({"show", "--json"}).out).at("results").at(0).at("notes").dump(), "show with --json");
  expect_noted(of("bench", path("loose.json"), "N=4096", {"-v"}).out, "a bench");
  expect_noted(json::parse(of("bench", path("loose.json"), "N=4096", {"--json"}).out).at("notes").dump(),
               "a bench with --json");
  const Finished sound = of("search", path("twice.json"), "N=4096", {"--json"});
  EXPECT_THAT(json::parse(sound.out).at("notes").dump(),
              AllOf(Not(HasSubstr("null test")), Not(HasSubstr("tolerance"))));
}

TEST_F(OperationTest, ReportsTellOperationsFromGemmsAndFromEachOther) {
  ASSERT_EQ(softmax("search").exit_code, 0);
  ASSERT_EQ(of("search", path("twice.json"), "N=4096", {"-q"}).exit_code, 0);
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  const Finished all = pgtune({"report"});
  EXPECT_THAT(all.out, AllOf(HasSubstr("softmax bf16, GB/s"), HasSubstr("twice, GB/s"), HasSubstr("f32 nn"),
                             HasSubstr(" speed "), HasSubstr("ways of copying")));
  const Finished one = pgtune({"report", "--operation", "softmax"});
  EXPECT_THAT(one.out, AllOf(HasSubstr("softmax_rows"), HasSubstr(" GB/s "), Not(HasSubstr("twice"))));
  EXPECT_THAT(softmax("show").out, AllOf(HasSubstr("softmax bf16 M=4096,N=8192"), Not(HasSubstr("256x256x256"))));
  EXPECT_EQ(of("show", "softmax", "M=1,N=8").exit_code, 1);
  const Finished power = pgtune({"report", "--power"});
  EXPECT_THAT(power.out, HasSubstr("\npgtune bench --operation FILE.json --size N=4096 --power\n"));
  EXPECT_THAT(pgtune({"report", "--power", "--json"}).out,
              HasSubstr("--operation softmax --size M=4096,N=8192 --dtype bf16 --power"));
  EXPECT_EQ(pgtune({"report", "--roofline"}).exit_code, 0);
  EXPECT_EQ(pgtune({"report", "--html", path("page.html")}).exit_code, 0);
}

TEST_F(OperationTest, TheCommandThatMeasuresEnergyNamesATemplateOfOnesOwn) {
  json mine = json::parse(std::ifstream(PGTUNE_SOURCE_DIR "/configs/operations/softmax_rows.json"));
  mine["name"] = "softmax_mine";
  mine["source"] = "softmax_mine.cu";
  write("softmax_mine.json", mine.dump());
  write("softmax_mine.cu", "extern \"C\" __global__ void softmax_rows() {}\n");
  const std::vector<std::string> own{"--template", path("softmax_mine.json")};
  const Finished searched = of("search", "softmax", "M=64,N=128", {own[0], own[1], "-q"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  const json report = json::parse(pgtune({"report", "--power", "--json"}).out);
  EXPECT_EQ(report.at("results").at(0).at("measure"),
            "pgtune bench --operation softmax --size M=64,N=128 --dtype bf16 --template FILE.json --power");
  // What it names does it, and nothing less.
  EXPECT_EQ(of("bench", "softmax", "M=64,N=128", {"--power"}).exit_code, 1);
  const Finished bench = of("bench", "softmax", "M=64,N=128", {own[0], own[1], "--power"});
  EXPECT_EQ(bench.exit_code, 0) << bench.err;
}

TEST_F(OperationTest, EnergyIsToldInItsUnitBesideTheCopys) {
  const Finished searched =
      of("search", "softmax", "M=4096,N=8192", {"--dtype", "bf16", "--variants", "4", "--power", "-v"});
  EXPECT_THAT(searched.out,
              AllOf(HasSubstr("\nenergy "), HasSubstr(" GB/s    W  per launch "), HasSubstr("\ncopy best ")));
  EXPECT_THAT(pgtune({"report", "--power"}).out, AllOf(HasSubstr(" GB/s    W "), HasSubstr("\n  copy best ")));
  ASSERT_EQ(search({"-q", "--power"}).exit_code, 0);
  EXPECT_THAT(
      pgtune({"report", "--power"}).out,
      AllOf(HasSubstr(" speed    W "), HasSubstr(" with softmax_rows, GB/s\n"), HasSubstr(" with tiny, TFLOP/s\n")));
}

TEST_F(OperationTest, ARecordingAnswersForOne) {
  const std::string recording = path("recording.db");
  const Finished recorded = softmax("search", {"--db", recording, "--json"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const Finished answered = softmax("search", {"--device", "recording:" + recording, "--json"});
  ASSERT_EQ(answered.exit_code, 0) << answered.err;
  EXPECT_EQ(json::parse(answered.out).at("best"), json::parse(recorded.out).at("best"));
}

TEST_F(OperationTest, AJobArrayHasItsSizes) {
  const Finished written = of("slurm", "softmax", "M=4096,N=8192", {"--gpus", "2", "-o", path("job.sh")});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(read("job.sh"), AllOf(HasSubstr("list_option=--sizes\n"), HasSubstr("\nM=4096,N=8192\nEND\n"),
                                    HasSubstr("'--operation=softmax'"), Not(HasSubstr("'--size"))));
}

TEST_F(OperationTest, SizesComeFromAFileToo) {
  write("sizes.txt", "# two\nN=1024\n\nN=2048 # the larger\n");
  const Finished fine = pgtune({"space", "--operation", path("twice.json"), "--sizes", path("sizes.txt")});
  EXPECT_THAT(fine.out, AllOf(HasSubstr("twice N=1024"), HasSubstr("twice N=2048")));
  write("sizes.txt", "N=1024\nN=7\n");
  const Finished wrong = pgtune({"space", "--operation", path("twice.json"), "--sizes", path("sizes.txt")});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("sizes.txt:2: "), HasSubstr("N must be a multiple of 4")));
}

TEST_F(OperationTest, HeadersSayWhatTheyLeaveOut) {
  ASSERT_EQ(of("search", path("twice.json"), "N=4096", {"-q"}).exit_code, 0);
  const Finished unknown = pgtune({"export", "header"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("left out twice N=4096: the operation twice is not built in; give its JSON "
                                           "with --operation"),
                                 HasSubstr("nothing can be exported")));
  const Finished other = pgtune({"export", "header", "--operation", "softmax"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("matches; leave out a filter"));
  std::string changed = kOwnOperation;
  changed.replace(changed.find("8 * N"), 5, "9 * N");
  write("twice.json", changed);
  const Finished version = pgtune({"export", "header", "--operation", path("twice.json")});
  EXPECT_EQ(version.exit_code, 1);
  EXPECT_THAT(version.err, HasSubstr("left out twice N=4096: tuned with another version of the operation twice"));
}

TEST_F(OperationTest, ItsTemplatesHaveNamesOfTheirOwn) {
  write("other.json", read("twice_template.json"));
  std::string both = kOwnOperation;
  both.replace(both.find("[\"twice_template.json\""), 1, "[\"other.json\", ");
  write("twice.json", both);
  const Finished result = of("search", path("twice.json"), "N=4096");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("other.json and twice_template.json are both named"));
}

TEST_F(OperationTest, HeadersRefuseWhatIsAboutGemms) {
  const Finished result = pgtune({"export", "header", "--operation", "softmax", "--guess", "shapes.txt"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--guess is about GEMMs. Leave out --operation or --guess"));
  EXPECT_EQ(pgtune({"export", "header", "--operation", "softmx"}).exit_code, 2);
}

TEST_F(OperationTest, WhatCannotBeMeantIsRefused) {
  struct Wrong {
    std::vector<std::string> arguments;
    const char* what;
  };
  const std::string own = path("twice.json");
  for (const auto& [arguments, what] : {
           Wrong{{"--operation", "softmx", "--size", "M=1,N=8"}, "did you mean 'softmax'?"},
           Wrong{{"--operation", "softmax"}, "--size M=1024,N=1024"},
           Wrong{{"--operation", "softmax", "--size", "M=1"}, "needs a size N"},
           Wrong{{"--operation", "softmax", "--size", "M=1,K=8"}, "no dimension 'K'; known: M, N"},
           Wrong{{"--operation", "softmax", "--size", "M=1,N=8", "--dtype", "int8"}, "no dtype int8"},
           Wrong{{"--operation", own, "--size", "N=8", "--dtype", "f32"}, "no dtypes to choose from"},
           Wrong{{"--operation", "softmax", "--size", "M=1,N=8", "--layout", "nt"}, "--layout is for GEMM"},
           Wrong{{"--operation", "softmax", "--size", "M=1,N=8", "--shape", "8x8x8"}, "a shape is for GEMM"},
           Wrong{{"--size", "M=1,N=8"}, "Name it with --operation"},
           Wrong{{"--operation", own, "--size", "N=8", "--template", "softmax_rows"}, "and 'twice' is asked for"},
           Wrong{{"--operation", "softmax", "--size", "M=1,N=8", "--template", "gemm_wgmma"},
                 "no template 'gemm_wgmma'"},
           Wrong{{"--shape", "8x8x8", "--template", path("twice_template.json")},
                 "name its operation with --operation"},
           Wrong{{"--operation", path("none.json"), "--size", "N=8"}, "none.json"},
       }) {
    for (const char* command : {"search", "bench", "space"}) {
      std::vector<std::string> words{command};
      words.insert(words.end(), arguments.begin(), arguments.end());
      const Finished result = pgtune(words);
      EXPECT_EQ(result.exit_code, 2) << command << " " << what;
      EXPECT_THAT(result.err, HasSubstr(what)) << command;
    }
  }
  EXPECT_EQ(requests("prepare"), 0);
}

}  // namespace
}  // namespace pgtune::tool::test
