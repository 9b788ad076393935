// SPDX-License-Identifier: MIT
// Ranges of M on the command line, with the fake worker as the GPU.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class FamilyCommand : public CliTest {
 protected:
  Finished family(const std::vector<std::string>& more = {}) {
    return pgtune({"search", "--template", path("tiny.json"), "--shape", "1..96x256x256", "--probes", "2"}, more);
  }
};

TEST_F(FamilyCommand, PrintsIntervalsAndLossAndShowKernelsToo) {
  const Finished result = family();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("1..96x256x256 f32 nn on Fake GPU: "), HasSubstr("kernel"), HasSubstr("..96 "),
                    HasSubstr("probe M"), HasSubstr("\nloss      median "),
                    HasSubstr("against a search of that M alone"), HasSubstr(" times cuBLASLt's first choice")));
  EXPECT_THAT(result.err, AllOf(HasSubstr("time      about "), HasSubstr(" for the kernels, "), HasSubstr("2 probes")));
  EXPECT_THAT(result.out, Not(HasSubstr("\nk1  ")));
  expect_80_columns(result.out);
  const Finished again = family();
  EXPECT_EQ(again.out, result.out);
  EXPECT_THAT(again.err, AllOf(HasSubstr("Answered from the database; --force measures again."),
                               Not(HasSubstr("time  ")), Not(HasSubstr("Learning from"))));
  const Finished shown = pgtune({"show", "--shape", "50x256x256"});
  EXPECT_EQ(shown.exit_code, 0);
  const std::size_t details = result.out.find("details   pgtune show --shape 96x256x256\n");
  ASSERT_NE(details, std::string::npos);
  EXPECT_THAT(shown.out, AllOf(::testing::StartsWith(result.out.substr(0, details) + "\nk1        tiny B"),
                               ::testing::EndsWith("\n\n")));
  expect_80_columns(shown.out);
  EXPECT_EQ(pgtune({"show", "--shape", "97x256x256"}).exit_code, 1);
  EXPECT_EQ(pgtune({"db", "check"}).exit_code, 0);
}

TEST_F(FamilyCommand, JsonHasTheFamilyAndItsLoss) {
  const Finished result = family({"--json", "--kernels", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json object = json::parse(result.out);
  const json& family = object.at("family");
  EXPECT_EQ(family.at("first_m"), 1);
  EXPECT_EQ(family.at("problem").at("m"), 96);
  EXPECT_LE(family.at("kernels").size(), 2U);
  EXPECT_EQ(family.at("intervals").back().at("last_m"), 96);
  EXPECT_EQ(family.at("probes").size(), 2U);
  EXPECT_GE(object.at("loss").at("largest").get<double>(), object.at("loss").at("median").get<double>());
  EXPECT_NEAR(object.at("loss").at("unproven_share").get<double>(), 0.776, 0.001);
  EXPECT_GT(object.at("baseline_first").at("mean").get<double>(), 0);
  const json shown = json::parse(pgtune({"show", "--json"}).out);
  EXPECT_EQ(shown.at("families").at(0).at("family"), family);
}

TEST_F(FamilyCommand, ADryRunTellsClassesAndTime) {
  const Finished result = family({"--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("1..96x256x256 f32 nn\n"), HasSubstr("\nanchors   M of 1, 8, 96: 24 variants each\n"),
                    HasSubstr("\nclasses   at least "), HasSubstr("\ntime      about ")));
  EXPECT_EQ(requests("trial"), 0);
  EXPECT_THAT(result.err, Not(HasSubstr("Learning"))) << "what ships is fitted, and no search is of this template yet";
  const json plan = json::parse(family({"--dry-run", "--json"}).out);
  EXPECT_EQ(plan.at("anchors"), (json::array({1, 8, 96})));
  EXPECT_EQ(plan.at("class_grid").back(), 96);
  const std::vector<std::string> narrow{"search", "--shape", "1..8x64x64", "--probes", "100", "--dry-run"};
  EXPECT_THAT(pgtune(narrow).out, HasSubstr(" for 4 probes\n")) << "other M are measured anyway";
}

TEST_F(FamilyCommand, RangesComeFromFilesToo) {
  write("shapes.txt", "1..24x256x256\n1..16x256x128\n");
  const Finished result =
      pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt")}, {"--probes", "0", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json object = json::parse(result.out);
  ASSERT_EQ(object.at("results").size(), 2U);
  EXPECT_EQ(object.at("results").at(1).at("family").at("problem").at("m"), 16);
  EXPECT_EQ(object.at("results").at(1).at("loss"), nullptr);
  EXPECT_EQ(object.at("results").at(1).at("baseline_first"), nullptr);

  const Finished shown = pgtune({"show", "--shapes", path("shapes.txt")});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("1..24x256x256"), HasSubstr("1..16x256x128")));
  const Finished some = pgtune({"show", "--shape", "2..9x256x256", "--shape", "9x9x9"});
  EXPECT_THAT(some.out, AllOf(HasSubstr("1..24x256x256"), Not(HasSubstr("1..16x256x128"))));
  EXPECT_THAT(some.err, HasSubstr("1 of 2 shapes have no result, the first 9x9x9 f32 nn."));
  const Finished report = pgtune({"report"});
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_THAT(report.err, HasSubstr("Not in it: 2 ranges of M. 'pgtune show'"));
}

TEST_F(FamilyCommand, AListHasRangesAndShapesWhichShareATotal) {
  write("shapes.txt", "1..24x256x256 weight 30\n64x64x64 weight 10\n1..16x256x128 weight 60\n");
  const auto planned = [&](const std::string& total) {
    const Finished result = pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt"),
                                    "--total", total, "--jobs", "8", "--dry-run", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::string text;
    const json document = json::parse(result.out);
    for (const json& one : document.at("results"))
      text += one.at("problem").at("m").dump() + " " + std::to_string(one.value("probes", -1)) + ", ";
    return std::pair{text, result.err};
  };
  EXPECT_EQ(planned("1h").first, "16 8, 24 8, 64 -1, ") << "the heaviest first, shapes last";
  EXPECT_EQ(planned("150s").first, "16 6, 24 2, 64 -1, ") << "as many probes as their shares pay for";
  const auto [text, errors] = planned("20s");
  EXPECT_EQ(text, "64 -1, ");
  EXPECT_THAT(errors, HasSubstr("1..24x256x256 f32 nn: left out, as its "));
  const Finished searched =
      pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt")}, {"--probes", "0", "--json"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  const json results = json::parse(searched.out).at("results");
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results.at(1).contains("family"));
  EXPECT_EQ(results.at(2).at("complete"), true) << "the time of a probe's search does not end it";
}

TEST_F(FamilyCommand, OnTwoGpusATotalHasRoomForTwiceAsMuch) {
  write("shapes.txt", "1..24x256x256 weight 60\n1..16x256x128 weight 40\n");
  const auto left_out = [&](const std::string& gpus, const std::string& step) {
    launch_.environment["PGTUNE_FAKE_GPUS"] = gpus;
    const Finished result =
        pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt")},
               {"--probes", "0", "--device", "all", "--jobs", "8", "--total", "55s", "--force", step});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (gpus == "2" && step == "--verbose") {
      EXPECT_THAT(result.err, HasSubstr("1..24x256x256 f32 nn is over after"));
    }
    return result.err.find("left out") != std::string::npos;
  };
  for (const std::string step : {"--dry-run", "--verbose"}) {
    EXPECT_TRUE(left_out("1", step)) << step;
    EXPECT_FALSE(left_out("2", step)) << step;
  }
}

TEST_F(FamilyCommand, WhatIsStoredTakesNothingOfATotal) {
  write("shapes.txt", "1..24x256x256 weight 30\n64x64x64 weight 10\n");
  const std::vector<std::string> search{"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt")};
  const Finished first = pgtune(search, {"--probes", "2"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto planned = [&](const std::string& option) {
    return json::parse(pgtune(search, {"--total", "1s", "--dry-run", "--json", option}).out).at("results");
  };
  ASSERT_EQ(planned("--quiet").size(), 2U);
  EXPECT_EQ(planned("--quiet").at(0).at("stored"), true);
  EXPECT_EQ(planned("--force").size(), 1U);
  const Finished second = pgtune(search, {"--total", "1s"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("1..24x256x256"));
  EXPECT_THAT(second.err, Not(HasSubstr("left out")));
  EXPECT_THAT(second.err, HasSubstr("Answered from the database"));
  EXPECT_THAT(pgtune(search, {"--total", "1s", "--force"}).err, HasSubstr("left out"));
}

TEST_F(FamilyCommand, ADryRunOfRangesAndShapesSaysOnceThatThereIsNoGpu) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  write("shapes.txt", "1..24x256x256\n64x64x64\n");
  const std::string err =
      pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt"), "--dry-run"}).err;
  const std::size_t first = err.find("No GPU here");
  ASSERT_NE(first, std::string::npos) << err;
  EXPECT_EQ(err.find("No GPU here", first + 1), std::string::npos) << err;
}

TEST_F(FamilyCommand, ShapesGetWhatRangesLeaveOfATotalByTheClock) {
  write("shapes.txt", "1..24x256x256\n64x64x64\n");
  const std::vector<std::string> search{"search",   "--template", path("tiny.json"), "--shapes", path("shapes.txt"),
                                        "--probes", "0",          "--strategy",      "guided",   "--json"};
  const json plan = json::parse(pgtune(search, {"--total", "1h", "--dry-run"}).out);
  const auto expected_s = plan.at("results").at(0).at("expected_s").at("kernels").get<double>();
  const Finished searched = pgtune(search, {"--total", std::to_string(expected_s + 0.01) + "s"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  const json results = json::parse(searched.out).at("results");
  EXPECT_TRUE(results.at(0).contains("family"));
  EXPECT_EQ(results.at(1).at("complete"), true) << "the fake GPU takes less than " << expected_s << " s";
}

TEST_F(FamilyCommand, SaysWhatARangeCannotDo) {
  const std::string range = "1..8x64x64", tiny = path("tiny.json");
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"bench", "--shape", range}, "'1..8x64x64' is a range of M, which this command does not take"},
           {{"search", "--template", tiny, "--shape", range, "--layout", "tn"}, "Give their pitch with --lda"},
           {{"search", "--template", tiny, "--shape", "8x64x64", "--probes", "3"}, "--probes is for a range of M"},
           {{"search", "--template", tiny, "--shape", "8x64x64", "--batch-invariant"},
            "--batch-invariant is for a range"},
           {{"search", "--template", tiny, "--shape", range, "--counters"}, "--counters is for single shapes"},
           {{"search", "--template", tiny, "--shape", range, "--power"}, "--power is for single shapes"},
           {{"search", "--template", tiny, "--shape", range, "--total", "1m", "--budget", "1s"}, "--total excludes"},
           {{"search", "--template", tiny, "--shape", range, "--shape", "2..8x64x64"},
            "two ranges of M that end alike"},
           {{"search", "--template", tiny, "--shape", range, "--batch-invariant"}, "with a plain order of sums"}}) {
    const Finished refused = pgtune(arguments);
    EXPECT_EQ(refused.exit_code, 2) << message;
    EXPECT_THAT(refused.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace pgtune::tool::test
