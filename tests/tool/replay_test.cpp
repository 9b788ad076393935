// SPDX-License-Identifier: MIT
// A search on a recording: made by one search, replayed by another.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class ReplayTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const Finished recorded = search({"--db", path("recording.db"), "--json"});
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    recorded_ = json::parse(recorded.out);
    launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  }
  Finished replay(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--device", "replay:" + path("recording.db")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return search(arguments);
  }
  json recorded_;
};

TEST_F(ReplayTest, FindsTheRecordedWinnerAndSaysThatItIsAReplay) {
  const Finished result = replay({"--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json replayed = json::parse(result.out);
  EXPECT_EQ(replayed.at("best").at("parameters"), recorded_.at("best").at("parameters"));
  EXPECT_DOUBLE_EQ(replayed.at("best").at("time_s").get<double>(), recorded_.at("best").at("time_s").get<double>());
  EXPECT_EQ(replayed.at("source"), "replay");
  EXPECT_EQ(replayed.at("other_versions"), json::array());
  EXPECT_EQ(replayed.at("template_hash"), recorded_.at("template_hash"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("replay: stored measurements"), HasSubstr("recording.db")));
  // Stored as a replay: the answer from the database says so too.
  EXPECT_EQ(json::parse(replay({"--json"}).out).at("source"), "replay");
  const Finished text = replay();
  EXPECT_THAT(text.out, HasSubstr("replayed from"));
  EXPECT_THAT(text.out + text.err, Not(HasSubstr("another version")));
}

TEST_F(ReplayTest, FloorRaceFinalAndEnergyAreTheRecordedOnes) {
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  const Finished recorded = search({"--db", path("recording.db"), "--force", "--power", "--json"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished replayed = replay({"--power", "--json"});
  ASSERT_EQ(replayed.exit_code, 0) << replayed.err;
  json expected = json::parse(recorded.out), found = json::parse(replayed.out);
  EXPECT_TRUE(expected.at("idle_power_w").is_number());
  for (json* const result : {&expected, &found}) {
    result->erase("source");
    result->erase("elapsed_s");
    result->erase("notes");  // a recording does not say what was verified
    // Which of the floor's two samples of a round was whose is not stored, only their positions.
    result->at("noise").erase("half_width");
    result->at("stages").erase("floor_s");
    // Nor how long that took, nor what came before the first variant.
    for (const char* stage : {"verify_s", "prepare_s", "steady_s"}) result->at("stages").erase(stage);
  }
  EXPECT_EQ(found, expected);
}

/// The recorded template, edited since.
class OtherVersionTest : public ReplayTest {
 protected:
  void SetUp() override {
    ReplayTest::SetUp();
    original_ = read("tiny.cu");
    edit();
  }
  void edit() { write("tiny.cu", "// changed\n" + original_); }
  void undo() { write("tiny.cu", original_); }
  json replayed(std::vector<std::string> more = {}) {
    more.emplace_back("--json");
    const Finished result = replay(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
  static void expect_80_columns(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
  std::string original_;
};

TEST_F(OtherVersionTest, IsReplayedAsAHint) {
  const Finished result = replay();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string recorded_hash = recorded_.at("template_hash").get<std::string>().substr(0, 8);
  const std::string line = "version   measured with another version of tiny (" + recorded_hash + ", here ";
  EXPECT_THAT(result.out,
              AllOf(HasSubstr('\n' + line), HasSubstr("a hint, not a measurement of this build's kernels\n")));
  EXPECT_THAT(result.err, HasSubstr('\n' + line));
  expect_80_columns(result.out);
  const Finished quiet = replay({"-q"});
  EXPECT_THAT(quiet.out, HasSubstr('\n' + line)) << "it is part of the result";
  EXPECT_EQ(quiet.err, "");
}

TEST_F(OtherVersionTest, IsStoredUnderTheRecordedHashAndNeverAsThisBuilds) {
  const json first = replayed();
  EXPECT_EQ(first.at("from_database"), false);
  const json again = replayed();
  EXPECT_EQ(again.at("from_database"), true);
  for (const json& result : {first, again}) {
    EXPECT_EQ(result.at("other_versions"), json({"tiny"}));
    EXPECT_EQ(result.at("template_hash"), recorded_.at("template_hash"));
    EXPECT_EQ(result.at("templates"), recorded_.at("templates"));
    EXPECT_EQ(result.at("best").at("parameters"), recorded_.at("best").at("parameters"));
  }
  EXPECT_THAT(replay().out, HasSubstr("\nversion   measured with another version of tiny ("));
  const json shown = json::parse(pgtune({"show", "--json"}).out).at("results");
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown.at(0).at("template_hash"), recorded_.at("template_hash"));
  const std::string header = pgtune({"export", "header", "--no-verify"}).out;
  EXPECT_THAT(header, HasSubstr("template " + recorded_.at("template_hash").get<std::string>().substr(0, 12)));
  EXPECT_THAT(header, HasSubstr("from a REPLAY of a recording"));
}

TEST_F(OtherVersionTest, IsPassedOverWhereThisBuildsIsRecordedToo) {
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  const Finished newer = search({"--db", path("recording.db"), "--json"});
  ASSERT_EQ(newer.exit_code, 0) << newer.err;
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  EXPECT_EQ(replayed().at("template_hash"), json::parse(newer.out).at("template_hash"));
  undo();
  const json older = replayed();
  EXPECT_EQ(older.at("template_hash"), recorded_.at("template_hash")) << "though the other was recorded later";
  EXPECT_EQ(older.at("other_versions"), json::array());
}

TEST_F(OtherVersionTest, ItsStoredAnswerIsNoHintForTheVersionItIsOf) {
  (void)replayed();
  undo();
  const json result = replayed();
  EXPECT_EQ(result.at("other_versions"), json::array());
  EXPECT_EQ(result.at("template_hash"), recorded_.at("template_hash"));
}

TEST_F(OtherVersionTest, APlanSaysSo) {
  (void)replayed();
  const json plan = replayed({"--dry-run"});
  EXPECT_EQ(plan.at("other_versions"), json({"tiny"}));
  EXPECT_TRUE(plan.at("answered_at").is_string()) << "by the replay before";
  EXPECT_THAT(replay({"--dry-run"}).out, HasSubstr("\nversion   measured with another version of tiny ("));
}

TEST_F(OtherVersionTest, ABenchSaysSo) {
  (void)replayed();
  const std::vector<std::string> bench{
      "bench", "--template", path("tiny.json"), "--shape", "256x256x256", "--device", "replay:" + path("recording.db")};
  const Finished text = pgtune(bench);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\nversion   measured with another version of tiny ("));
  expect_80_columns(text.out);
  std::vector<std::string> as_json = bench;
  as_json.emplace_back("--json");
  EXPECT_EQ(json::parse(pgtune(as_json).out).at("other_versions"), json({"tiny"}));
}

TEST_F(OtherVersionTest, WithoutAnyVariantOfThisBuildIsRefused) {
  json other = json::parse(kTinyTemplate);
  other.at("parameters").at(0).at("values") = {16};
  other.at("parameters").at(0).at("default") = 16;
  write("tiny.json", other.dump());
  const Finished result = replay();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("another version of template 'tiny'"), HasSubstr("Search on a GPU")));
}

TEST_F(OtherVersionTest, VariantsThisBuildDoesNotHaveTakeNoPart) {
  const std::int64_t won = recorded_.at("best").at("parameters").at("BM");
  const std::int64_t left = won == 32 ? 64 : 32;
  json other = json::parse(kTinyTemplate);
  other.at("parameters").at(0).at("values") = {left};
  other.at("parameters").at(0).at("default") = left;
  write("tiny.json", other.dump());
  const json result = replayed();
  EXPECT_EQ(result.at("best").at("parameters").at("BM"), left);
  EXPECT_EQ(result.at("other_versions"), json({"tiny"}));
}

TEST_F(ReplayTest, AProblemThatWasNotRecordedNamesThoseThatWere) {
  const Finished result = pgtune(
      {"search", "--template", path("tiny.json"), "--shape", "64x64x64", "--device", "replay:" + path("recording.db")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("does not hold 64x64x64"), HasSubstr("256x256x256 f32 nn")));
}

TEST_F(ReplayTest, OtherConditionsThanTheRecordedAreRefused) {
  const Finished result = replay({"--regime", "burst"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'burst rotated uniform:20231107 observed'"),
                                HasSubstr("'sustained rotated uniform:20231107 observed'"), HasSubstr("--regime")));
}

TEST_F(ReplayTest, ConditionsRecordedBesideOthersAreFound) {
  launch_.environment["PGTUNE_WORKER"] = PGTUNE_FAKE_WORKER;
  ASSERT_EQ(search({"--db", path("recording.db"), "--regime", "burst"}).exit_code, 0);
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  EXPECT_EQ(replay({"--regime", "burst"}).exit_code, 0);
  EXPECT_EQ(replay().exit_code, 0);
}

TEST_F(ReplayTest, AReplayIsNoRecording) {
  ASSERT_EQ(replay({"--db", path("replayed.db")}).exit_code, 0);
  const Finished result = search({"--device", "replay:" + path("replayed.db")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("holds no finished search from a GPU"));
}

TEST_F(ReplayTest, MissingFile) {
  const Finished result = search({"--device", "replay:" + path("missing.db")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("missing.db"));
}

}  // namespace
}  // namespace pgtune::tool::test
