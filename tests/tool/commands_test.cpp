// SPDX-License-Identifier: MIT
// show, report and export header on the results of searches on the fake worker: message, output, exit code.
#include <cstdlib>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class StoredResultsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const Finished first = search({"--json"});
    ASSERT_EQ(first.exit_code, 0) << first.err;
    searched_ = json::parse(first.out);
    const Finished second = pgtune({"search", "--template", path("tiny.json"), "--shape", "1000x512x64", "-q"});
    ASSERT_EQ(second.exit_code, 0) << second.err;
  }
  json results(const std::vector<std::string>& arguments) {
    const Finished result = pgtune(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const json document = json::parse(result.out);
    EXPECT_EQ(document.at("schema"), 2);
    return document.at("results");
  }
  json searched_;
};

using ShowTest = StoredResultsTest;
using ReportTest = StoredResultsTest;

TEST_F(ShowTest, TextHasTheBestOfEachProblem) {
  const Finished result = pgtune({"show"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, AllOf(HasSubstr("256x256x256 f32 nn\n"), HasSubstr("\n\n1000x512x64 f32 nn\n"),
                                HasSubstr("Fake GPU, sm_90, 132 SMs, 80 GiB, 700 W, driver"),
                                HasSubstr(") of cuBLASLt's best\n"), HasSubstr("\n  sustained, L2 rotated, "),
                                HasSubstr(" times the speed of cuBLASLt's best\n"), HasSubstr("\n  tiny BM=")));
  expect_80_columns(result.out);
}

TEST_F(ShowTest, JsonIsWhatTheSearchFound) {
  const json all = results({"show", "--json"});
  ASSERT_EQ(all.size(), 2U);
  const json& shown = all.at(0);
  EXPECT_EQ(shown.at("problem"), searched_.at("problem"));
  EXPECT_EQ(shown.at("source"), "gpu");
  EXPECT_EQ(shown.at("complete"), true);
  EXPECT_EQ(shown.at("template_hash"), searched_.at("template_hash"));
  EXPECT_EQ(shown.at("device").at("uuid"), searched_.at("device").at("uuid"));
  for (const char* field : {"template", "parameters", "time_s", "tflops", "ratio_to_baseline", "ratio_interval"})
    EXPECT_EQ(shown.at("best").at(field), searched_.at("best").at(field)) << field;
  EXPECT_EQ(shown.at("baseline").at("best_time_s"), searched_.at("baseline").at("best").at("time_s"));
}

TEST_F(ShowTest, FiltersChoose) {
  EXPECT_EQ(results({"show", "--json", "--shape", "1000x512x64"}).at(0).at("problem").at("m"), 1000);
  EXPECT_EQ(results({"show", "--json", "--shape", "1000x512x64"}).size(), 1U);
  EXPECT_EQ(results({"show", "--json", "--on", "fake"}).size(), 2U);
  EXPECT_EQ(results({"show", "--json", "--on", searched_.at("device").at("uuid")}).size(), 2U);
  EXPECT_EQ(results({"show", "--json", "--template", "tiny", "--source", "gpu"}).size(), 2U);
}

class NothingFoundTest : public StoredResultsTest, public ::testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(NothingFoundTest, IsExitCodeOneWithTheRemedy) {
  for (const char* command : {"show", "report"}) {
    const Finished text = pgtune({command}, GetParam());
    EXPECT_EQ(text.exit_code, 1) << command;
    EXPECT_EQ(text.out, "") << command;
    EXPECT_THAT(text.err, AllOf(HasSubstr("no result in " + database() + " matches"), HasSubstr("leave out a filter")));
    const Finished as_json = pgtune({command, "--json"}, GetParam());
    EXPECT_EQ(as_json.exit_code, 1) << command;
    EXPECT_EQ(json::parse(as_json.out), json({{"schema", 2}, {"results", json::array()}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Filters, NothingFoundTest,
                         ::testing::Values(std::vector<std::string>{"--shape", "64x64x64"},
                                           std::vector<std::string>{"--shape", "256x256x256", "--layout", "tn"},
                                           std::vector<std::string>{"--on", "H200"},
                                           std::vector<std::string>{"--template", "other"},
                                           std::vector<std::string>{"--source", "recorded"}));

TEST_F(ShowTest, ExplainsItsVerdictOnRequest) {
  const Finished plain = pgtune({"show"}), explained = pgtune({"show", "--explain"});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(plain.out, Not(HasSubstr("why:")));
  EXPECT_THAT(explained.out, AllOf(HasSubstr("\n  why: In each round of the final both took turns"),
                                   HasSubstr("\n  why: The whole interval is")));
  expect_80_columns(explained.out);
}

TEST_F(ShowTest, WrongFiltersAreUsageErrors) {
  const Finished source = pgtune({"show", "--source", "cpu"});
  EXPECT_EQ(source.exit_code, 2);
  EXPECT_THAT(source.err, HasSubstr("--source"));
  const Finished layout = pgtune({"show", "--layout", "tn"});
  EXPECT_EQ(layout.exit_code, 2);
  EXPECT_THAT(layout.err, AllOf(HasSubstr("--layout"), HasSubstr("Add --shape MxNxK")));
}

TEST_F(StoredResultsTest, ADatabaseWithoutResults) {
  launch_.environment["PGTUNE_FAKE"] = "trial||wrong";
  ASSERT_EQ(search({"--db", path("empty.db"), "-q"}).exit_code, 1);
  for (const auto& command : std::vector<std::vector<std::string>>{{"show"}, {"report"}, {"export", "header"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--db", path("empty.db")});
    const Finished result = pgtune(arguments);
    EXPECT_EQ(result.exit_code, 1) << command.front();
    EXPECT_EQ(result.out, "") << command.front();
    EXPECT_THAT(result.err, HasSubstr("empty.db holds no results yet; run pgtune search --shape MxNxK first"));
  }
}

TEST_F(ReportTest, ColumnsAreTheSearchsNumbers) {
  const json line = results({"report", "--json"}).at(0);
  const json& best = searched_.at("best");
  EXPECT_DOUBLE_EQ(line.at("percent_of_best").get<double>(), 100 * best.at("ratio_to_baseline").get<double>());
  EXPECT_DOUBLE_EQ(line.at("percent_of_best_interval").at(0).get<double>(),
                   100 * best.at("ratio_interval").at(0).get<double>());
  EXPECT_EQ(line.at("tflops"), best.at("tflops"));
  const json& baseline = searched_.at("baseline");
  const double slower =
      baseline.at("first").at("time_s").get<double>() / baseline.at("best").at("time_s").get<double>();
  EXPECT_NEAR(line.at("percent_of_first").get<double>(), line.at("percent_of_best").get<double>() * slower, 1e-9);

  const Finished text = pgtune({"report"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  char percent[32];
  std::snprintf(percent, sizeof percent, " %.1f ", 100 * best.at("ratio_to_baseline").get<double>());
  EXPECT_THAT(
      text.out,
      AllOf(::testing::StartsWith("Fake GPU, sm_90, 132 SMs, 80 GiB, 700 W, driver 580.00.00; sustained, L2\n"),
            HasSubstr("256x256x256 "), HasSubstr(percent), Not(HasSubstr("*  ")), Not(HasSubstr("* recorded"))));
  expect_80_columns(text.out);
}

TEST_F(ReportTest, ALongProblemStillFits80Columns) {
  const std::vector<std::string> more{"search",  "--template", path("tiny.json"), "--shape", "16384x16384x16384",
                                      "--batch", "2",          "--alpha",         "0.25",    "--beta",
                                      "-1.5",    "--lda",      "20000",           "-q"};
  const Finished searched = pgtune(more);
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  for (const char* command : {"report", "show"}) expect_80_columns(pgtune({command}).out);
}

class ExportTest : public StoredResultsTest {
 protected:
  Finished header(const std::vector<std::string>& more) {
    launch_.environment["PGTUNE_FATBINARY"] = "/nowhere";  // the fake worker's cubins are none
    return pgtune({"export", "header", "--no-verify", "--template", path("tiny.json")}, more);
  }
};

TEST_F(ExportTest, StandardOutputGetsTheSameText) {
  const Finished result = header({"--shape", "256x256x256"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("namespace best_gemm"), HasSubstr("256x256x256 f32 nn"), Not(HasSubstr("1000x512x64"))));
  ASSERT_EQ(header({"--shape", "256x256x256", "-o", path("best_gemm.hpp")}).exit_code, 0);
  EXPECT_EQ(read("best_gemm.hpp"), result.out);
}

TEST_F(ExportTest, WrongNamespaceOrFile) {
  const Finished bad = header({"--namespace", "2fast"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("--namespace '2fast'"), HasSubstr("my::gemm")));
  const Finished lost = header({"-o", path("no-folder/best.hpp")});
  EXPECT_EQ(lost.exit_code, 3);
  EXPECT_THAT(lost.err,
              AllOf(HasSubstr("cannot write " + path("no-folder/best.hpp")), HasSubstr("folder that exists")));
  const Finished nothing = header({"--on", "H200", "-o", path("none.hpp")});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("none.hpp")));
}

TEST_F(ExportTest, ALinkIsWrittenThroughNotReplaced) {
  write("target.hpp", "old\n");
  std::filesystem::create_symlink(path("target.hpp"), path("link.hpp"));
  ASSERT_EQ(header({"-o", path("link.hpp")}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.hpp")));
  EXPECT_THAT(read("target.hpp"), HasSubstr("best_gemm"));
}

TEST_F(ExportTest, AMeasurementBeatsARecordedAnswerOfAnotherVersion) {
  const auto other = [&](const char* option, const std::string& value) {
    return pgtune({"search", "--template", path("tiny.json"), "--shape", "1000x512x64", "-q", option, value}).exit_code;
  };
  ASSERT_EQ(other("--db", path("recording.db")), 0);
  write("tiny.cu", "// changed\n" + read("tiny.cu"));
  ASSERT_EQ(search({"-q"}).exit_code, 0);
  ASSERT_EQ(other("--device", "recording:" + path("recording.db")), 0);
  const Finished result = header({});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("256x256x256 f32 nn"), HasSubstr("1000x512x64 f32 nn"), Not(HasSubstr("RECORDED"))));
}

TEST_F(ExportTest, CallableLeavesOutWhatIsNotThereOrDoesNotBuild) {
  const Finished unknown = pgtune({"export", "header"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("template tiny is not built in; give its JSON with --template"));
  launch_.environment["PGTUNE_FAKE"] = "build||fail";
  const Finished failing = pgtune({"export", "header", "--template", path("tiny.json")});
  EXPECT_EQ(failing.exit_code, 1);
  EXPECT_THAT(failing.err, AllOf(HasSubstr("left out 256x256x256 f32 nn: its kernel was not built"),
                                 HasSubstr("nothing can be exported")));
  EXPECT_EQ(pgtune({"export", "header", "--neighbour-loss", "much"}).exit_code, 2);
}

using MissingDatabaseTest = CliTest;

TEST_F(MissingDatabaseTest, IsExitCodeFourWithTheRemedyAndStaysMissing) {
  for (const auto& command : std::vector<std::vector<std::string>>{{"show"},
                                                                   {"report"},
                                                                   {"export", "header", "--no-verify"},
                                                                   {"db", "info"},
                                                                   {"db", "check"},
                                                                   {"db", "copy", "-o", path("copy.db")}}) {
    const Finished result = pgtune(command);
    EXPECT_EQ(result.exit_code, 4) << command.front();
    EXPECT_EQ(result.out, "") << command.front();
    EXPECT_THAT(result.err, AllOf(HasSubstr("there is no database " + database()), HasSubstr("pgtune search")));
  }
  EXPECT_FALSE(std::filesystem::exists(database()));
  EXPECT_FALSE(std::filesystem::exists(path("copy.db")));
}

}  // namespace
}  // namespace pgtune::tool::test
