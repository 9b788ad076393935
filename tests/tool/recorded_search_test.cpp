// SPDX-License-Identifier: MIT
// Searches without a GPU print what a recording answers, and store it as recorded.
#include <utility>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class RecordedSearchTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const Finished recorded = search({"--db", path("recording.db"), "--power", "--json"});
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    recorded_ = json::parse(recorded.out);
    launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  }
  Finished on_recording(std::vector<std::string> words) {
    words.insert(words.end(), {"--template", path("tiny.json"), "--device", "recording:" + path("recording.db")});
    return pgtune(words);
  }
  Finished answer(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"search", "--shape", "256x256x256"};
    words.insert(words.end(), more.begin(), more.end());
    return on_recording(words);
  }
  json answered() {
    const Finished result = answer({"--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
  void edit_template() { write("tiny.cu", "// changed\n" + read("tiny.cu")); }
  json recorded_;
};

TEST_F(RecordedSearchTest, ItIsTheRecordedAnswerAndSaysSo) {
  json found = answered(), expected = recorded_;
  EXPECT_EQ(found.at("source"), "recorded");
  EXPECT_TRUE(found.at("recorded").at("finished_at").is_string());
  EXPECT_TRUE(found.at("recorded").at("pgtune").is_string());
  EXPECT_EQ(found.at("this_board"), false);
  EXPECT_TRUE(expected.at("recorded").is_null());
  for (json* const result : {&found, &expected}) {
    for (const char* key : {"source", "recorded", "this_board", "elapsed_s"}) result->erase(key);
  }
  EXPECT_EQ(found, expected);
  const Finished text = answer();
  EXPECT_THAT(text.out, AllOf(HasSubstr("256x256x256 f32 nn on Fake GPU\n"),
                              HasSubstr("\nrecorded  on another machine, 2"), Not(HasSubstr("another version"))));
  EXPECT_THAT(text.err, HasSubstr("Recorded answers: nothing is run here."));
  expect_80_columns(text.out);
}

TEST_F(RecordedSearchTest, ItIsStoredOnceAndMarkedEverywhere) {
  (void)answered();
  (void)answered();
  const json shown = json::parse(pgtune({"show", "--json"}).out).at("results");
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown.at(0).at("source"), "recorded");
  EXPECT_EQ(shown.at(0).at("best").at("parameters"), recorded_.at("best").at("parameters"));
  EXPECT_THAT(pgtune({"show"}).out, HasSubstr("700 W (recorded)"));
  const Finished report = pgtune({"report"});
  EXPECT_THAT(report.out, AllOf(::testing::ContainsRegex("\nf32 nn\n256x256x256\\*  tiny "),
                                HasSubstr("\n* recorded on another machine\n")));
  EXPECT_THAT(pgtune({"report", "--power"}).out, HasSubstr("256x256x256 f32 nn * with tiny"));
  EXPECT_EQ(pgtune({"report", "--html", path("page.html")}).exit_code, 0);
  launch_.environment["PGTUNE_FATBINARY"] = "/nowhere";  // the fake worker's cubins are none
  const std::string no_worker = std::exchange(launch_.environment["PGTUNE_WORKER"], PGTUNE_FAKE_WORKER);
  const Finished exported = pgtune({"export", "header", "--no-verify", "--template", path("tiny.json")});
  launch_.environment["PGTUNE_WORKER"] = no_worker;
  EXPECT_THAT(exported.out, HasSubstr("RECORDED on another machine")) << exported.err;
  EXPECT_EQ(pgtune({"report", "--source", "gpu"}).exit_code, 1);
  EXPECT_EQ(pgtune({"report", "--source", "recorded"}).exit_code, 0);
  EXPECT_EQ(pgtune({"db", "check"}).exit_code, 0);
  EXPECT_EQ(json::parse(pgtune({"db", "info", "--json"}).out).at("rows").at("sessions"), 1);
  const Finished pruned = pgtune({"db", "prune", "--recorded"});
  EXPECT_EQ(pruned.exit_code, 0) << pruned.err;
  EXPECT_THAT(pruned.out, HasSubstr(" with tiny: recorded on another"));
  expect_80_columns(pruned.out);
  EXPECT_EQ(json::parse(pgtune({"db", "info", "--json"}).out).at("rows").at("sessions"), 0);
}

TEST_F(RecordedSearchTest, ItNeverAnswersForAGpu) {
  (void)answered();
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  const int trials = requests("trial");
  const Finished measured = search({"--json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_EQ(json::parse(measured.out).at("source"), "gpu");
  EXPECT_EQ(json::parse(measured.out).at("from_database"), false);
  EXPECT_GT(requests("trial"), trials) << "nor do its trials";
  launch_.environment["PGTUNE_FATBINARY"] = "/nowhere";  // the fake worker's cubins are none
  const Finished header = pgtune({"export", "header", "--no-verify", "--template", path("tiny.json")});
  EXPECT_EQ(header.exit_code, 0) << header.err;
  EXPECT_THAT(header.out, Not(HasSubstr("RECORDED"))) << "what is measured here is preferred";
}

TEST_F(RecordedSearchTest, AnotherVersionOfATemplateIsAHint) {
  edit_template();
  const Finished text = answer({"-q"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  const std::string hash = recorded_.at("template_hash");
  EXPECT_THAT(text.out, HasSubstr("\nversion   measured with another version of tiny (" + hash.substr(0, 8)));
  EXPECT_EQ(text.err, "");
  expect_80_columns(text.out);
  const json found = answered();
  EXPECT_EQ(found.at("other_versions"), json({"tiny"}));
  EXPECT_EQ(found.at("template_hash"), hash) << "stored under it, too";
  EXPECT_EQ(found.at("templates"), recorded_.at("templates"));
  EXPECT_EQ(json::parse(pgtune({"show", "--json"}).out).at("results").at(0).at("template_hash"), hash);
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  ASSERT_EQ(search({"--db", path("recording.db")}).exit_code, 0);
  EXPECT_EQ(answered().at("other_versions"), json::array()) << "where this build's is recorded, too";
}

TEST_F(RecordedSearchTest, AWinnerIsExportedByATemplateThatHasMoreParametersSince) {
  (void)answered();
  std::string text = read("tiny.json");
  const std::string parameters = "\"parameters\": [";
  write("tiny.json", text.insert(text.find(parameters) + parameters.size(),
                                 R"({"name": "ADDED", "values": [1, 0], "default": 0}, )"));
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  launch_.environment["PGTUNE_FATBINARY"] = "/nowhere";  // the fake worker's cubins are none
  const Finished header = pgtune({"export", "header", "--no-verify", "--template", path("tiny.json")});
  EXPECT_EQ(header.exit_code, 0) << header.err;
  EXPECT_THAT(header.out, AllOf(HasSubstr("ADDED=0"), HasSubstr("another version")));
  EXPECT_THAT(header.err, HasSubstr("1 winner tuned with another version of a template"));
}

TEST_F(RecordedSearchTest, RoofsAreThoseOfTheRecordingAndL2IsOfTheMeasuredTemplateAlone) {
  write("tiny.json", R"({"traffic": {"l2_bytes": "16384 * M"},)" + read("tiny.json").substr(1));
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  ASSERT_EQ(search({"--db", path("recording.db")}).exit_code, 0);
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  EXPECT_THAT(answer().out, HasSubstr(" % of the L2 roof\n"));
  edit_template();
  EXPECT_THAT(answer().out, HasSubstr(" % of the arithmetic roof\n"));
  EXPECT_THAT(pgtune({"report", "--roofline"}).out, HasSubstr("roofs: DRAM 4200 GB/s"));
  const db::Database recording = db::Database::open(path("recording.db"), db::OpenMode::kReadWriteCreate);
  db::Statement(recording, "UPDATE ceilings SET ceilings_json = replace(ceilings_json, '58000000000000', '1000')")
      .run();
  EXPECT_THAT(answer().out, Not(HasSubstr(" roof\n"))) << "of a roof below the point there is no share";
}

TEST_F(RecordedSearchTest, AShownAnswerOfAnotherVersionOfABuiltInTemplateSaysSo) {
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  ASSERT_EQ(pgtune({"search", "--shape", "1024x1024x1024", "--template", "sgemm_simt", "--variants", "2"}).exit_code,
            0);
  const auto versions = [&] {
    return json::parse(pgtune({"show", "--json"}).out).at("results").at(0).at("other_versions");
  };
  EXPECT_EQ(versions(), json::array());
  EXPECT_THAT(pgtune({"show"}).out, Not(HasSubstr("version: ")));
  db::Statement(db::Database::open(database(), db::OpenMode::kReadWriteCreate),
                "UPDATE templates SET content_hash = 'c0ffee' || content_hash")
      .run();
  EXPECT_EQ(versions(), json({"sgemm_simt"}));
  EXPECT_THAT(pgtune({"show"}).out, HasSubstr("\n  version: measured with another version of sgemm_simt (c0ffee"));
}

TEST_F(RecordedSearchTest, OfAListWhatIsMissingIsNamedAndTheRestPrinted) {
  write("shapes.txt", "64x64x64\n256x256x256\n");
  const Finished result = on_recording({"search", "--shapes", path("shapes.txt"), "--json"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("\npgtune: 64x64x64 f32 nn: no recorded answer\n"),
                                HasSubstr("\npgtune: 1 of 2 problems has no recorded answer.\nSearch on a GPU, or ")));
  expect_80_columns(result.err);
  const json results = json::parse(result.out).at("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results.at(0).at("error"), "no recorded answer");
  EXPECT_EQ(results.at(1).at("best"), recorded_.at("best"));
  EXPECT_THAT(on_recording({"search", "--shapes", path("shapes.txt")}).out, HasSubstr("\n1 problem: "));
  EXPECT_EQ(on_recording({"search", "--shape", "64x64x64"}).exit_code, 3);
}

TEST_F(RecordedSearchTest, WhatMeasuresNeedsAGpu) {
  const Finished bench = on_recording({"bench", "--shape", "256x256x256", "--db", path("recording.db")});
  EXPECT_EQ(bench.exit_code, 3);
  EXPECT_THAT(bench.err, HasSubstr("a bench needs a GPU. Recordings hold answers of searches alone"));
  EXPECT_EQ(answer({"--lock-clocks=1500"}).exit_code, 2);
  EXPECT_EQ(answer({"--regime", "burst"}).exit_code, 3) << "under other conditions";
  EXPECT_EQ(answer({"--objective", "energy"}).exit_code, 3);
  const Finished counters = answer({"--counters"});
  EXPECT_EQ(counters.exit_code, 0) << counters.err;
  EXPECT_THAT(counters.out, HasSubstr("counters  none: they are read on a GPU"));
}

TEST_F(RecordedSearchTest, ARecordedAnswerIsNoRecording) {
  ASSERT_EQ(answer({"--db", path("stored.db")}).exit_code, 0);
  const Finished result = search({"--device", "recording:" + path("stored.db")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("holds no finished search from a GPU"));
  const Finished missing = search({"--device", "recording:" + path("missing.db")});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr("missing.db"));
}

}  // namespace
}  // namespace pgtune::tool::test
